package ssca2

import "github.com/cofferdam-go/cofferdam/stm"

// Transactional builds the graph in several goroutines, with transactions. It
// runs to its end: the context of the options is not heeded.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	o.Context = nil // so that no transaction below can fail
	c := &transactional{construction{edges: in.edges, clique: in.clique()}, o}
	return c.run(goroutines, c.survey, c.imply)
}

// transactional is a construction with transactions. While a phase shares them,
// greatest and implied are accessed in transactions only.
type transactional struct {
	construction
	stm.Options
}

func (c *transactional) survey(begin, end int) {
	greatest := greatestOf(c.edges[begin:end])
	c.Atomically(func(tx *stm.Tx) error {
		if greatest > stm.Load(tx, &c.greatest) {
			stm.Store(tx, &c.greatest, greatest)
		}
		return nil
	})
}

func (c *transactional) imply(begin, end int) {
	// The function is made once: with options, one that captures variables is
	// allocated.
	var from, to int
	note := func(tx *stm.Tx) error {
		c.implied.addTx(tx, to, from)
		return nil
	}
	var ends []int
	for from = begin; from < end; from++ {
		ends = c.graph.unanswered(ends, from)
		c.implied.approach(ends)
		for _, to = range ends {
			c.Atomically(note)
		}
	}
}

// addTx is add in a transaction. A new block is nobody else's before the transaction
// commits, and what is in it then is plain.
func (l *implied) addTx(tx *stm.Tx, to, from int) {
	n := stm.Load(tx, &l.count[to])
	stm.Store(tx, &l.count[to], n+1)
	if n < l.room {
		stm.Store(tx, &l.first[to*l.room+n], from)
		return
	}
	n -= l.room
	newest := stm.Load(tx, &l.more[to])
	if n%blockSize == 0 {
		newest = &block{older: newest}
		stm.Store(tx, &l.more[to], newest)
	}
	stm.Store(tx, &newest.from[n%blockSize], from)
}
