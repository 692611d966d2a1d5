// want package:"analyzed"

// Package known has the errors that the analyzer is known to make: what it reports
// for nothing, and what it does not see. When it learns better, this changes.
package known

import (
	"fmt"
	"io"

	"github.com/cofferdam-go/cofferdam/stm"
)

type node struct {
	key  int
	next *node
}

var shared node

// falseAlarms are six.
func falseAlarms(tx *stm.Tx, n *node, step func(), x uint, private *node) {
	for x != 0 { // want `this loop can go round`
		x &= x - 1 // at most 64 times
	}
	for len(n.name()) > 0 { // want `this loop can go round`
		step() // which is tx.Check
	}
	queue := []*node{n}
	for len(queue) > 0 { // want `this loop can go round`
		queue = queue[1:]
	}
	var w io.Writer = new(discard)
	w.Write(nil) // want `this calls io.Writer.Write`
	stm.Store(tx, &shared.key, 1)
	_ = private.key                 // want `this reads private.key without stm.Load`
	say := func() { fmt.Println() } // want `this calls fmt.Println`
	tx.Irrevocable()
	say()
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }

func (n *node) name() string { return "" }

type sayer interface{ say() }

// missed are six.
func missed(tx *stm.Tx, s sayer, f func(), n *node, size uint) {
	s.say()          // which prints
	f()              // which prints
	p := &shared     // an alias
	p.next = n       // is written through
	n.next = p       // and so is a parameter that is shared
	for range size { // 1<<64 - 1 times in a doomed transaction
	}
	held := map[string]func(){"say": func() { fmt.Println() }}
	held["say"]()
}
