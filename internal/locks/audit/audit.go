// Package audit compares what two versions of a program do with their locks, so that a change which
// leaks a lock, or takes two in both orders, is refused even if no run shows it:
//
//	func (c *Cache) Get(k string) int {     func (c *Cache) Get(k string) int {
//		if c.m == nil {                     	c.mu.Lock()
//			return 0                        	if c.m == nil {
//		}                                   		return 0
//		return c.m[k]                       	}
//	}                                       	...
//	                                        "Get would leave c.mu held on some way out"
//
//	audit.go  Worse, Misuses
package audit

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An audit is what a program does with its locks, as far as its source tells. Two of
// them, of the program without a patch and with it, show what the patch makes worse:
// schedules that exploration has not tried, or a caller that the test does not have, may
// run into it. Locks and functions are known by name, because the two programs have nothing
// else in common.
type audit struct {
	misuses map[misuse]bool
	// order has the pairs of locks of which the second is taken while the first is held,
	// with the function that does so.
	order map[lockPair]string
}

// A misuse is a lock that a function uses in a way that may be wrong.
type misuse struct {
	function string
	kind     locks.Kind
	lock     string
}

// A lockPair is two locks in the order in which they are taken.
type lockPair struct{ first, second string }

func newAudit(program *locks.Program) *audit {
	a := &audit{misuses: make(map[misuse]bool), order: make(map[lockPair]string)}
	for _, flow := range program.Flows() {
		name := "a function literal"
		if d, ok := flow.Function().(*ast.FuncDecl); ok {
			name = d.Name.Name
		}
		for _, f := range flow.Findings {
			if f.Kind != locks.NotFollowed {
				a.misuses[misuse{name, f.Kind, f.Lock.String()}] = true
			}
		}
		for _, e := range flow.Edges {
			pair := lockPair{program.ClassName(e.First), program.ClassName(e.Second)}
			if a.order[pair] == "" {
				a.order[pair] = e.In
			}
		}
	}
	return a
}

// Worse says what a change makes worse about the locks of a program; "" if nothing.
func Worse(before, after *locks.Program) string {
	old, now := newAudit(before), newAudit(after)
	if news := now.newMisuses(old); len(news) > 0 {
		return news[0]
	}
	for _, pair := range slices.SortedFunc(maps.Keys(now.order), comparePairs) {
		if _, ok := old.order[pair]; ok {
			continue
		}
		if back := now.path(pair.second, pair.first, map[string]bool{}); back != "" {
			return fmt.Sprintf("%s would take %s while it holds %s, and %s takes them the other way round: the two can wait for each other for ever", now.order[pair], short(pair.second), short(pair.first), back)
		}
	}
	return ""
}

// Misuses returns, in words and in order, where a change has a function use a lock in a way that may be
// wrong, and did not before.
func Misuses(before, after *locks.Program) []string {
	return newAudit(after).newMisuses(newAudit(before))
}

// newMisuses are the misuses that an earlier program does not have, in words and in order.
func (a *audit) newMisuses(old *audit) []string {
	var all []string
	for m := range a.misuses {
		if !old.misuses[m] {
			all = append(all, m.String())
		}
	}
	slices.Sort(all)
	return all
}

func (m misuse) String() string {
	switch m.kind {
	case locks.TakenTwice:
		return fmt.Sprintf("%s would take %s twice", m.function, m.lock)
	case locks.LeftHeld:
		return fmt.Sprintf("%s would leave %s held on some way out", m.function, m.lock)
	case locks.NotHeld:
		return fmt.Sprintf("%s would release %s, which it does not hold on every way", m.function, m.lock)
	case locks.WrongMode:
		return fmt.Sprintf("%s would release %s in another mode than it took it in", m.function, m.lock)
	case locks.NotFollowed:
	}
	panic(fmt.Sprintf("audit: a misuse of kind %v", m.kind))
}

func comparePairs(x, y lockPair) int {
	return strings.Compare(x.first+x.second, y.first+y.second)
}

// path is the function that takes a lock, directly or over others, while another is held; ""
// if none does.
func (a *audit) path(from, to string, seen map[string]bool) string {
	if function, ok := a.order[lockPair{from, to}]; ok {
		return function
	}
	seen[from] = true
	for _, pair := range slices.SortedFunc(maps.Keys(a.order), comparePairs) {
		if pair.first == from && !seen[pair.second] && a.path(pair.second, to, seen) != "" {
			return a.order[pair]
		}
	}
	return ""
}

// short is a lock's name without the path of its package.
func short(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
