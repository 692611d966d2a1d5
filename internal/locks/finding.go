package locks

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
)

// A Kind says what is wrong with the use of a lock.
type Kind uint8

const (
	// LeftHeld: the function ends with a lock that it took. A helper that takes a lock for
	// its caller does that on purpose.
	LeftHeld Kind = iota + 1
	// NotHeld: a lock is released that the function does not hold on every path. A helper
	// that releases its caller's lock does that on purpose.
	NotHeld
	// TakenTwice: a lock is taken that is held already, here or in a function that is
	// called.
	TakenTwice
	// WrongMode: a lock is released for reading that is held for writing, or the other way
	// round.
	WrongMode
	// NotFollowed: what is held after this cannot be told; Reason says why.
	NotFollowed
)

func (k Kind) String() string {
	switch k {
	case LeftHeld:
		return "left held"
	case NotHeld:
		return "not held"
	case TakenTwice:
		return "taken twice"
	case WrongMode:
		return "wrong mode"
	case NotFollowed:
		return "not followed"
	}
	panic(fmt.Sprintf("locks: kind %d", int(k)))
}

// A Finding is something wrong with the use of a lock.
type Finding struct {
	Kind   Kind
	Lock   *Place // nil if it has no name
	Mode   Mode
	At     token.Pos
	Panics bool   // of LeftHeld: on a path that ends by a panic only
	Reason string // of NotFollowed
}

// String renders the finding: "s.mu left held".
func (f Finding) String() string {
	text := f.Kind.String()
	if f.Lock != nil {
		text = f.Lock.String() + " " + text
	}
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	return text
}

// An Edge says that a lock of one class is taken while one of another is held.
type Edge struct {
	First, Second *types.Var
	At            token.Pos
	In            string // the function
}

func (w *walker) find(f Finding) {
	if !slices.Contains(w.flow.Findings, f) {
		w.flow.Findings = append(w.flow.Findings, f)
	}
}

// leftHeld finds the locks that are held where a function ends. One that the function
// released before it took it is its caller's, and is held as it was before.
func (w *walker) leftHeld(exits []Exit) {
	for _, e := range exits {
		for _, h := range e.Held {
			if !h.Maybe && e.Released.Find(h.Lock) < 0 {
				w.find(Finding{Kind: LeftHeld, Lock: h.Lock, Mode: h.Mode, At: e.At, Panics: e.Panics})
			}
		}
	}
}
