package whole

import (
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A HalfGuarded variable is one that a lock keeps apart in some places and not in others: with
// the lock held it is written, or read, and without it is the other thing done.
//
//	func (p *Pool) Get() *Conn {        func (p *Pool) Put(c *Conn) {
//		p.mu.Lock()                     	c.busy = false           busy is half guarded
//		defer p.mu.Unlock()             }
//		...
//		c.busy = true
type HalfGuarded struct {
	Variable *types.Var
	// Without are the accesses without the lock that may come together with one that has it.
	Without []lockset.Observation
}

// Half returns the variables that a lock guards by half, outside of test code.
func Half(a *lockset.Analysis, lock *types.Var) []HalfGuarded {
	lock = a.Places.Canonical(lock)
	var all []HalfGuarded
	for _, v := range a.Variables {
		if v.Atomic || v.Object.Pos() == lock.Pos() {
			continue
		}
		var with, without []lockset.Observation
		for _, s := range v.Sites {
			if strings.HasSuffix(s.At.Filename, "_test.go") {
				continue
			}
			for _, o := range s.Observations {
				switch {
				case o.Unnamed:
				case hasClass(a.Places, o, lock) && !onlyForReading(a.Places, o, lock):
					with = append(with, o)
				default:
					without = append(without, o)
				}
			}
		}
		without = slices.DeleteFunc(without, func(o lockset.Observation) bool {
			return !slices.ContainsFunc(with, func(p lockset.Observation) bool {
				return (o.Kind == lockset.Write || p.Kind == lockset.Write) && !haveInCommon(a.Places, o, p)
			})
		})
		if len(without) > 0 {
			all = append(all, HalfGuarded{v.Object, without})
		}
	}
	return all
}

// hasClass reports whether a lock of a class is held, of whichever object.
func hasClass(places *locks.Places, o lockset.Observation, class *types.Var) bool {
	return slices.Contains(o.OfUnrelatedObject, class) || slices.Contains(o.OfUnknownObject, class) ||
		slices.ContainsFunc(o.Held, func(r lockset.Relation) bool { return places.Variable(r.Lock) == class })
}

// onlyForReading reports whether an observation is a write, and holds the lock for reading: others
// may have it at the same time.
func onlyForReading(places *locks.Places, o lockset.Observation, class *types.Var) bool {
	return o.Kind == lockset.Write && slices.ContainsFunc(slices.Concat(o.Held, o.Unrelated), func(r lockset.Relation) bool {
		return places.Variable(r.Lock) == class && r.Mode == locks.Read
	})
}

// haveInCommon reports whether two observations hold a lock of the same class, of whichever
// objects: it is likely to keep them apart.
func haveInCommon(places *locks.Places, o, p lockset.Observation) bool {
	classes := slices.Concat(p.OfUnrelatedObject, p.OfUnknownObject)
	for _, r := range p.Held {
		classes = append(classes, places.Variable(r.Lock))
	}
	return slices.ContainsFunc(classes, func(class *types.Var) bool { return hasClass(places, o, class) })
}
