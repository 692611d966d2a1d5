package ssca2

import "github.com/cofferdam-go/cofferdam/stm"

// Transactional builds the graph in several goroutines, with transactions. It
// runs to its end: the context of the options is not heeded.
func Transactional(in *Input, goroutines int, o stm.Options) *Result {
	o.Context = nil // so that no transaction below can fail
	c := &transactional{construction{edges: in.edges}, o}
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
	for from := begin; from < end; from++ {
		for _, to := range c.graph.From(from) {
			if !c.graph.answered(from, to) {
				c.Atomically(func(tx *stm.Tx) error {
					c.implied[to].addTx(tx, from)
					return nil
				})
			}
		}
	}
}

// addTx adds an edge in a transaction. A new block is nobody else's before the
// transaction commits, and what is in it then is plain.
func (l *implied) addTx(tx *stm.Tx, from int) {
	count := stm.Load(tx, &l.count)
	newest := stm.Load(tx, &l.newest)
	if count%blockSize == 0 {
		newest = &block{older: newest}
		stm.Store(tx, &l.newest, newest)
	}
	stm.Store(tx, &newest.from[count%blockSize], from)
	stm.Store(tx, &l.count, count+1)
}
