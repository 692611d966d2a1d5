package summary

import (
	"go/token"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Section is a place where a lock is taken, with what becomes of it.
type Section struct {
	At      token.Position
	Lock    string // its name in the table
	LockKey facts.Key
	// Protected are the guarded variables that the section has copies of, and
	// Isolated those that it reaches on pages, by their names in the table.
	Protected, Isolated []string
	// WithEntries are those of them that are maps with copies of their entries.
	WithEntries []string
	// HeaderOnly are those of which elements or entries are used as they are, with the reason.
	HeaderOnly []Header
	// Left are those that it uses as they are, with the reason.
	Left []Left
	// Gaps are where it is left on the way.
	Gaps []Gap
	// Piecewise says that what it sees may be of several moments, although nothing of it changes any more when it has been seen.
	Piecewise bool
	// Times is how often the lock is taken for it: one that is released and taken again
	// on the way is several.
	Times int
	// Why is the reason if the section as a whole was left alone.
	Why string
}

// IsProtected reports whether the section has anything to itself.
func (s *Section) IsProtected() bool { return len(s.Protected)+len(s.Isolated) > 0 }

// A Gap is a statement for which a section is interrupted.
type Gap struct {
	At  token.Position
	Why string
	// Open are the names of what other code can use meanwhile. The section may have other data to itself.
	Open []string
}

// A Header is a variable of which elements or entries are used as they are, with the statement that does it.
type Header struct {
	Name string
	Gap
}

// A Left is something that was left alone.
type Left struct {
	Name string
	Why  string
}
