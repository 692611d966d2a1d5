package transactions

import (
	"fmt"
	"sync"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/stm"
)

// Micro-benchmarks: transactions of one shape in a loop.

const figureMicro = "micro"

// The shapes by their names.
const (
	readTen      = "read 10"
	counter      = "counter"
	transfer     = "transfer"   // between 4 of 1,000 accounts
	readThousand = "read 1,000" // and write 1
	update       = "update 32"  // variables, each read and written: what kmeans does
	empty        = "empty"      // a transaction that does nothing
)

// A shape is a micro-benchmark.
type shape struct {
	name       string
	goroutines int
	ops        int // for stm to take some 30 ms
	peer       bool
}

var shapes = []shape{
	{readTen, 1, 500_000, true},
	{counter, 1, 1_000_000, true},
	{counter, 2, 400_000, true},
	{transfer, 1, 300_000, true},
	{transfer, 2, 300_000, true},
	{readThousand, 1, 8_000, true},
	{update, 1, 100_000, false},
	{empty, 1, 1_000_000, false},
}

// A mutex is so much faster and the peer so much slower that as many operations
// would take too short or too long.
const (
	mutexTimes = 4.0
	peerTimes  = 1.0 / 20
)

func microCases(s size) []measure.Case {
	var cases []measure.Case
	for _, sh := range shapes {
		if s == quick {
			sh.ops /= 2
		}
		c := measure.Case{
			Figure:   figureMicro,
			Name:     sh.name,
			Params:   measure.Params{measure.Goroutines: float64(sh.goroutines)},
			Ops:      sh.ops,
			Baseline: Mutex,
			Contenders: []measure.Contender{
				sh.contender(Mutex, Mutex, mutexTimes),
				sh.contender(Eager, Eager, 1),
				sh.contender(Timer, Timer, 1),
				sh.contender(measure.Again, Eager, 1),
			},
		}
		if sh.peer {
			c.Contenders = append(c.Contenders, sh.contender(Peer, Peer, peerTimes))
		}
		cases = append(cases, c)
	}
	return cases
}

// contender runs the shape as one variant does, under the name of another.
func (sh shape) contender(name, as measure.Variant, times float64) measure.Contender {
	return measure.Contender{Variant: name, Prepare: func() measure.Trial {
		loop, check := sh.bank(as)
		each := int(float64(sh.ops)*times) / sh.goroutines
		return work{
			ops: sh.ops, times: times, threads: sh.goroutines,
			run: func() time.Duration {
				start := time.Now()
				var all sync.WaitGroup
				for g := range sh.goroutines {
					all.Go(func() { loop(each, g) })
				}
				all.Wait()
				return time.Since(start)
			},
			check: func() error { return check(sh.name, each*sh.goroutines) },
		}.trial()
	}}
}

// bank makes the variables that a variant works on, and returns what does n operations
// in goroutine g, and what checks the outcome of all operations.
func (sh shape) bank(v measure.Variant) (loop func(n, g int), check func(shape string, ops int) error) {
	if v == Peer {
		b := newPeerBank()
		return b.loop(sh.name), b.check
	}
	b := newBank()
	return b.loop(sh.name, v), b.check
}

// A bank is the variables of the micro-benchmarks. What one goroutine writes and
// another reads for another reason has cache lines of its own.
type bank struct {
	mu       sync.Mutex
	_        [64]byte
	ten      [10]int
	_        [64]byte
	counter  int
	_        [64]byte
	accounts [1000]int
	_        [64]byte
	total    int
	_        [64]byte
	cells    [32]float64
}

// deposit is what each account has in the beginning.
const deposit = 1_000_000

func newBank() *bank {
	b := &bank{}
	for i := range b.ten {
		b.ten[i] = i
	}
	for i := range b.accounts {
		b.accounts[i] = deposit
	}
	return b
}

// check says whether some operations left what they should have.
func (b *bank) check(shape string, ops int) error {
	sum := 0
	for _, a := range b.accounts {
		sum += a
	}
	switch {
	case sum != len(b.accounts)*deposit:
		return fmt.Errorf("the accounts hold %d in total, and held %d", sum, len(b.accounts)*deposit)
	case shape == counter && b.counter != ops:
		return fmt.Errorf("the counter is %d after %d increments", b.counter, ops)
	case shape == readThousand && b.total != sum:
		return fmt.Errorf("the total is %d, and the accounts hold %d", b.total, sum)
	case shape == update && b.cells != filled(float64(ops)):
		return fmt.Errorf("the cells are %v after %d updates", b.cells, ops)
	}
	return nil
}

func filled(v float64) (cells [32]float64) {
	for i := range cells {
		cells[i] = v
	}
	return cells
}

// pick chooses four different accounts, one of each quarter.
func pick(r uint64) (a, b, c, d int) {
	const quarter = 250
	return int(r & 0xffff % quarter), quarter + int(r>>16&0xffff%quarter), 2*quarter + int(r>>32&0xffff%quarter), 3*quarter + int(r>>48%quarter)
}

// loop returns what does n operations in goroutine g.
func (b *bank) loop(shape string, v measure.Variant) func(n, g int) {
	var loops map[string]func(n, g int)
	switch v {
	case Mutex:
		loops = map[string]func(n, g int){readTen: b.lockTen, counter: b.lockCounter, transfer: b.lockTransfer, readThousand: b.lockThousand, update: b.lockUpdate, empty: b.lockEmpty}
	case Eager:
		loops = map[string]func(n, g int){readTen: b.eagerTen, counter: b.eagerCounter, transfer: b.eagerTransfer, readThousand: b.eagerThousand, update: b.eagerUpdate, empty: b.eagerEmpty}
	default:
		return func(n, g int) { b.optional(shape, stm.Options{Mode: modes[v]}, n, g) }
	}
	return loops[shape]
}

// With a mutex.

func (b *bank) lockEmpty(n, _ int) {
	for range n {
		b.mu.Lock()
		//lint:ignore SA2001 an empty section is what is measured
		b.mu.Unlock()
	}
}

func (b *bank) lockTen(n, _ int) {
	sum := 0
	for range n {
		b.mu.Lock()
		for i := range b.ten {
			sum += b.ten[i]
		}
		b.mu.Unlock()
	}
	sink(sum)
}

func (b *bank) lockCounter(n, _ int) {
	for range n {
		b.mu.Lock()
		b.counter++
		b.mu.Unlock()
	}
}

func (b *bank) lockTransfer(n, g int) {
	r := uint64(g + 1)
	for range n {
		r = next(r)
		from, to, from2, to2 := pick(r)
		b.mu.Lock()
		b.accounts[from]--
		b.accounts[to]++
		b.accounts[from2]--
		b.accounts[to2]++
		b.mu.Unlock()
	}
}

func (b *bank) lockThousand(n, _ int) {
	for range n {
		b.mu.Lock()
		sum := 0
		for i := range b.accounts {
			sum += b.accounts[i]
		}
		b.total = sum
		b.mu.Unlock()
	}
}

func (b *bank) lockUpdate(n, _ int) {
	for range n {
		b.mu.Lock()
		for i := range b.cells {
			b.cells[i]++
		}
		b.mu.Unlock()
	}
}

// With transactions, as a program would write them.

func (b *bank) eagerEmpty(n, _ int) {
	for range n {
		stm.Atomically(func(*stm.Tx) error { return nil })
	}
}

func (b *bank) eagerTen(n, _ int) {
	sum := 0
	for range n {
		stm.Atomically(func(tx *stm.Tx) error {
			sum = b.sumTen(tx)
			return nil
		})
	}
	sink(sum)
}

func (b *bank) eagerCounter(n, _ int) {
	for range n {
		stm.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &b.counter, stm.Load(tx, &b.counter)+1)
			return nil
		})
	}
}

func (b *bank) eagerTransfer(n, g int) {
	r := uint64(g + 1)
	for range n {
		r = next(r)
		stm.Atomically(func(tx *stm.Tx) error {
			b.move(tx, r)
			return nil
		})
	}
}

func (b *bank) eagerThousand(n, _ int) {
	for range n {
		stm.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &b.total, b.sum(tx))
			return nil
		})
	}
}

func (b *bank) eagerUpdate(n, _ int) {
	for range n {
		stm.Atomically(func(tx *stm.Tx) error {
			b.fill(tx)
			return nil
		})
	}
}

// optional runs the same with options. Their function is allocated, so it is made
// once; a clone may run it at the same time, so it sets no variable but in the bank.
func (b *bank) optional(shape string, o stm.Options, n, g int) {
	r := uint64(g + 1)
	bodies := map[string]func(tx *stm.Tx) error{
		empty:        func(*stm.Tx) error { return nil },
		readTen:      func(tx *stm.Tx) error { sink(b.sumTen(tx)); return nil },
		counter:      func(tx *stm.Tx) error { stm.Store(tx, &b.counter, stm.Load(tx, &b.counter)+1); return nil },
		transfer:     func(tx *stm.Tx) error { b.move(tx, r); return nil },
		readThousand: func(tx *stm.Tx) error { stm.Store(tx, &b.total, b.sum(tx)); return nil },
		update:       func(tx *stm.Tx) error { b.fill(tx); return nil },
	}
	body := bodies[shape]
	for range n {
		r = next(r)
		o.Atomically(body)
	}
}

func (b *bank) sumTen(tx *stm.Tx) int {
	sum := 0
	for i := range b.ten {
		sum += stm.Load(tx, &b.ten[i])
	}
	return sum
}

func (b *bank) move(tx *stm.Tx, r uint64) {
	from, to, from2, to2 := pick(r)
	b.add(tx, from, -1)
	b.add(tx, to, 1)
	b.add(tx, from2, -1)
	b.add(tx, to2, 1)
}

func (b *bank) add(tx *stm.Tx, account, amount int) {
	p := &b.accounts[account]
	stm.Store(tx, p, stm.Load(tx, p)+amount)
}

func (b *bank) sum(tx *stm.Tx) int {
	sum := 0
	for i := range b.accounts {
		sum += stm.Load(tx, &b.accounts[i])
	}
	return sum
}

func (b *bank) fill(tx *stm.Tx) {
	for i := range b.cells {
		stm.Store(tx, &b.cells[i], stm.Load(tx, &b.cells[i])+1)
	}
}

// sink keeps the compiler from leaving a computation out.
//
//go:noinline
func sink(int) {}

// Figures of one run on another machine of this kind, in ns: for those peers that
// cannot be fetched, and for NOrec in C++.
var quoted = map[string]struct{ cpp, tiancaiamao, lukechampine float64 }{
	measure.Case{Name: readTen, Params: measure.Params{measure.Goroutines: 1}}.String():      {68, 118, 1584},
	measure.Case{Name: counter, Params: measure.Params{measure.Goroutines: 1}}.String():      {33, 205, 745},
	measure.Case{Name: counter, Params: measure.Params{measure.Goroutines: 2}}.String():      {127, 384, 1025},
	measure.Case{Name: transfer, Params: measure.Params{measure.Goroutines: 2}}.String():     {106, 373, 1039},
	measure.Case{Name: readThousand, Params: measure.Params{measure.Goroutines: 1}}.String(): {3987, 12193, 184827},
}

func (s *session) micro() error {
	err := s.measure(0, microCases(s.size))
	s.printMicro()
	return err
}

func (s *session) printMicro() {
	results := s.Report.Of(figureMicro)
	if len(results) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\nMicro-benchmarks. Median ns per transaction, and times as fast as anacrolix with the range of 90 %%\n"+
		"of its bootstrap; noise is eager against itself. NOrec in C++ and the peers tiancaiamao and lukechampine,\n"+
		"which the module proxy does not serve, are quoted from a run on another machine of this kind.\n\n")
	t := measure.Table{Head: []string{"transaction", "goroutines", "mutex", "eager", "timer", "allocations", "anacrolix", "eager is faster by", "noise", "| quoted: C++", "tiancaiamao", "lukechampine"}}
	for _, r := range results {
		faster, _ := r.Ratio(Peer, Eager)
		times := "-"
		if faster.Mid > 0 {
			times = faster.Times()
		}
		noise, _ := r.Ratio(measure.Again, Eager)
		eager, _ := r.Timing(Eager)
		row := []any{r.Name, r.Params[measure.Goroutines], perOp(r, Mutex), perOp(r, Eager), perOp(r, Timer),
			fmt.Sprintf("%.3f", eager.Counters[allocations]), perOp(r, Peer), times, noise.Percent()}
		if q, ok := quoted[r.String()]; ok {
			row = append(row, q.cpp, q.tiancaiamao, q.lukechampine)
		} else {
			row = append(row, "-", "-", "-")
		}
		t.Row(row...)
	}
	t.Write(s.Out)
}

// perOp is the time of an operation in a table.
func perOp(r measure.Result, v measure.Variant) string {
	t, ok := r.Timing(v)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.1f", t.PerOp)
}
