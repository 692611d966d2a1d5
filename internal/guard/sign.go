package guard

import (
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A Sign is something other than an access that says that a lock guards data.
type Sign int

const (
	Annotated     Sign = iota // +checklocks:mu
	CommentOnData             // "guarded by mu"
	CommentOnLock             // "mu protects a and b"
	CommentAbove              // "protects the fields below"
	Idiom                     // mu struct { sync.Mutex; ... }
	Named                     // connsMu and conns
	Below                     // stands right below the lock
	Helper                    // used in a function like fooLocked
)

func (s Sign) String() string {
	return [...]string{"annotated", "comment on it names the lock", "comment on the lock names it", "comment on the lock covers it",
		"inside the lock's struct", "named after it", "stands below the lock", "used in a …Locked function"}[s]
}

// states reports whether a sign is a statement that the lock guards the data. The other signs
// hint at it, and count for as much as the accesses agree with them.
func (s Sign) states() bool {
	switch s {
	case Annotated, CommentOnData, CommentOnLock, CommentAbove:
		return true
	}
	return false
}

// names reports whether a sign names the data, or the lock beside it. What speaks of all that stands
// below a lock was often written before some of that stood there.
func (s Sign) names() bool { return s.states() && s != CommentAbove }

// signsBetween returns the signs that a lock, reached from data by a way, guards it.
func (s *declarations) signsBetween(data, lock *types.Var, way *locks.Place) []Sign {
	d, l := s.of[data], s.of[lock]
	if d == nil || l == nil {
		return nil
	}
	var list []Sign
	if annotation(d.text) != "" && annotation(d.text) == way.String() {
		list = append(list, Annotated)
	}
	if namesLock(d.text, lock.Name()) {
		list = append(list, CommentOnData)
	}
	near := d.neighbour == l.neighbour
	if near {
		isBelow := d.index > l.index && d.paragraph == l.paragraph
		switch promised := coverageOf(l.text, data.Name()); {
		case promised == coversByName:
			list = append(list, CommentOnLock)
		case promised == coversAll || promised == coversBelow && isBelow:
			list = append(list, CommentAbove)
		}
		if d.neighbour.anonymous && lock.Embedded() {
			list = append(list, Idiom)
		} else if isBelow && !lockBetween(l, d) {
			list = append(list, Below)
		}
		if namedAfter(lock.Name(), data.Name()) {
			list = append(list, Named)
		}
	}
	return list
}

// lockBetween reports whether another lock stands between a lock and data below it.
func lockBetween(l, d *declaration) bool {
	for _, x := range l.neighbour.list[l.index+1 : d.index] {
		if locks.IsLock(x.object.Type()) {
			return true
		}
	}
	return false
}

// locksBeside returns the locks that are declared together with data.
func (s *declarations) locksBeside(data *types.Var) []*types.Var {
	d := s.of[data]
	if d == nil {
		return nil
	}
	var list []*types.Var
	for _, l := range d.neighbour.list {
		if l != d && locks.IsLock(l.object.Type()) {
			list = append(list, l.object)
		}
	}
	return list
}
