// Package called names the locks and the guarded data of a program in tables, rules and findings, so that people can tell them apart.
//
//	called.go   the names
package called

import (
	"fmt"
	"go/types"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// Names are what people call the locks and data of a program, each by a name that no other has.
//
//	Cache.n           the usual name
//	store.Cache.n     if another package has a Cache.n
//	n (main.go:17)    if another function has a variable n
type Names struct {
	facts       *facts.Facts
	locks, data map[facts.Key]string
	usual       map[string]string // the usual name for each that is another
}

// New names what guards are about.
func New(f *facts.Facts, guards []*guard.Guard) *Names {
	n := &Names{facts: f, locks: make(map[facts.Key]string), data: make(map[facts.Key]string), usual: make(map[string]string)}
	locks, data := make(clashes), make(clashes)
	for _, g := range guards {
		locks.add(g.Lock.Name, f.KeyOf(g.Lock.Object.(*types.Var)))
		for _, d := range g.Data {
			data.add(d.Name, f.KeyOf(d.Object.(*types.Var)))
		}
	}
	for _, g := range guards {
		n.add(n.locks, locks, g.Lock.Name, g.Lock.Object.(*types.Var))
		for _, d := range g.Data {
			n.add(n.data, data, d.Name, d.Object.(*types.Var))
		}
	}
	return n
}

// clashes are the things that have a name.
type clashes map[string]map[facts.Key]bool

func (c clashes) add(name string, k facts.Key) {
	if c[name] == nil {
		c[name] = make(map[facts.Key]bool)
	}
	c[name][k] = true
}

// add names something. It may be known already: a package and its variant with tests have the same variables.
func (n *Names) add(to map[facts.Key]string, all clashes, name string, v *types.Var) {
	if k := n.facts.KeyOf(v); to[k] == "" {
		to[k] = n.apart(all, name, v)
	}
}

// apart returns a name that something has to itself.
func (n *Names) apart(all clashes, name string, v *types.Var) string {
	if len(all[name]) < 2 {
		return name
	}
	longer := name
	if v.IsField() {
		longer = v.Pkg().Name() + "." + name // a variable of a package has that already
	}
	if n.usual[longer] != "" || !v.IsField() {
		at := n.facts.Fset.PositionFor(v.Pos(), false)
		longer = fmt.Sprintf("%s (%s:%d)", name, filepath.Base(at.Filename), at.Line)
	}
	n.usual[longer] = name
	return longer
}

// Both returns a name and the usual one of the same thing: rules of people may have the one or the other.
func (n *Names) Both(name string) []string {
	if usual := n.usual[name]; usual != "" {
		return []string{name, usual}
	}
	return []string{name}
}

// OfDatum returns the name of guarded data. A field that is found behind guarded data has the one that it is given.
func (n *Names) OfDatum(d *guard.Datum) string {
	if name := n.data[n.facts.KeyOf(d.Object.(*types.Var))]; name != "" {
		return name
	}
	return d.Name
}

// OfLock returns the name of the lock of a guard.
func (n *Names) OfLock(g *guard.Guard) string {
	return n.Lock(n.facts.KeyOf(g.Lock.Object.(*types.Var)))
}

// Lock returns the name of a lock, "" if no guard has it.
func (n *Names) Lock(k facts.Key) string { return n.locks[k] }
