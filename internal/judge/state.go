package judge

import (
	"encoding/binary"
	"fmt"
	"go/types"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A state is a moment of a run. A copy shares everything but the slices themselves: values
// are never changed, and a goroutine is made anew before it is (own).
type state struct {
	m      *machine
	number int // in the search
	// heap are the objects that the run has made; the first has the number machine.initial.
	heap []value
	// dirty are the objects of machine.base that the run has stored to.
	dirty map[int]value
	// threads are the goroutines that have not ended, in the order of their starts.
	threads []*thread
	// syncs are the states of locks and the like, by address.
	syncs map[address]value

	// result is what the program returned, once it has. crash is why it ended, if it did not
	// end well.
	returned bool
	result   string
	crash    *Outcome
}

func (s *state) copy() *state {
	c := *s
	c.heap = slices.Clone(s.heap)
	c.threads = slices.Clone(s.threads)
	return &c
}

// own returns a goroutine of the state that may be changed.
func (s *state) own(i int) *thread {
	t := s.threads[i].copy()
	s.threads[i] = t
	return t
}

// setSync changes the state of a lock or the like.
func (s *state) setSync(a address, v value) {
	all := maps.Clone(s.syncs)
	if all == nil {
		all = map[address]value{}
	}
	if all[a] = v; v == nil {
		delete(all, a)
	}
	s.syncs = all
}

// An encoder writes a state so that two states are the same text exactly if nothing but
// the numbers of their objects differs. Registers that are dead, and objects that nobody
// can reach, are no part of it.
type encoder struct {
	m       *machine
	s       *state
	out     []byte
	numbers map[int]int // of objects that were made by the run
	queue   []int
	syncs   map[int][]address
}

func (m *machine) encode(s *state) string {
	e := &encoder{m: m, s: s, numbers: map[int]int{}, syncs: map[int][]address{}}
	for a := range s.syncs {
		e.syncs[a.object] = append(e.syncs[a.object], a)
	}
	e.flag(s.returned)
	e.text(s.result)
	threads := slices.Clone(s.threads)
	slices.SortFunc(threads, func(a, b *thread) int { return strings.Compare(a.id, b.id) })
	for _, t := range threads {
		e.thread(t)
	}
	for _, o := range slices.Sorted(maps.Keys(s.dirty)) {
		e.int(o)
		e.object(o)
	}
	for i := 0; i < len(e.queue); i++ {
		e.object(e.queue[i])
	}
	return string(e.out)
}

func (e *encoder) int(i int)        { e.out = binary.AppendVarint(e.out, int64(i)) }
func (e *encoder) text(s string)    { e.int(len(s)); e.out = append(e.out, s...) }
func (e *encoder) tag(b byte)       { e.out = append(e.out, b) }
func (e *encoder) word(bits uint64) { e.out = binary.LittleEndian.AppendUint64(e.out, bits) }

func (e *encoder) flag(b bool) {
	if b {
		e.tag(1)
	} else {
		e.tag(0)
	}
}

// number writes which object is meant.
func (e *encoder) number(o int) {
	if o < e.m.initial() {
		e.int(o)
		return
	}
	n, ok := e.numbers[o]
	if !ok {
		n = e.m.initial() + len(e.numbers)
		e.numbers[o] = n
		e.queue = append(e.queue, o)
	}
	e.int(n)
}

func (e *encoder) object(o int) {
	e.value(e.s.object(o))
	all := e.syncs[o]
	slices.SortFunc(all, func(a, b address) int { return strings.Compare(a.path, b.path) })
	for _, a := range all {
		e.text(a.path)
		e.value(e.s.syncs[a])
	}
	e.tag('.')
}

func (e *encoder) thread(t *thread) {
	e.text(t.id)
	e.int(t.spawned)
	e.tag(byte(t.parked))
	e.values(t.offers)
	for _, f := range t.frames {
		e.frame(f)
	}
	e.tag(';')
}

func (e *encoder) frame(f *frame) {
	e.tag(byte(f.role))
	e.tag(byte(f.unwinding))
	e.value(f.panic.held)
	e.flag(f.panic.active)
	if f.fn != nil {
		e.int(e.m.funcNumber(f.fn))
		e.int(f.block.Index)
		e.int(f.pc)
		for _, r := range e.m.about(f.fn).live(f.block, f.pc) {
			e.value(f.regs[r])
		}
	}
	for _, d := range f.defers {
		e.pending(&d)
	}
	if f.pending != nil {
		e.tag('!')
		e.pending(f.pending)
	}
	e.tag(',')
}

func (e *encoder) pending(p *pendingCall) {
	e.value(p.callee)
	e.values(p.args)
}

func (e *encoder) values(all []value) {
	e.int(len(all))
	for _, v := range all {
		e.value(v)
	}
}

func (e *encoder) value(v value) {
	switch v := v.(type) {
	case nil:
		e.tag('0')
	case bool:
		e.tag('b')
		e.flag(v)
	case string:
		e.tag('s')
		e.text(v)
	case int64:
		e.tag('i')
		e.out = binary.AppendVarint(e.out, v)
	case float64:
		e.tag('f')
		e.word(math.Float64bits(v))
	case complex128:
		e.tag('c')
		e.word(math.Float64bits(real(v)))
		e.word(math.Float64bits(imag(v)))
	case address:
		e.tag('p')
		e.number(v.object)
		e.text(v.path)
	case aggregate:
		e.tag('a')
		e.values(v)
	case slice:
		e.tag('l')
		e.number(v.array.object)
		e.text(v.array.path)
		e.int(v.from)
		e.int(v.n)
		e.int(v.room)
	case mapRef:
		e.tag('m')
		e.number(int(v))
	case chanRef:
		e.tag('h')
		e.number(int(v))
	case iterator:
		e.tag('t')
		e.number(int(v))
	case stackRef:
		e.tag('d')
		e.int(int(v))
	case *closure:
		e.closure(v)
	case iface:
		e.tag('x')
		if v.dynamic != nil {
			e.int(e.m.typeNumber(v.dynamic))
			e.value(v.held)
		}
	case mapping:
		e.tag('M')
		e.mapping(v)
	case iteration:
		e.tag('T')
		e.number(int(v.over))
		e.values(v.keys)
		e.text(v.text)
		e.int(v.at)
	case channel:
		e.tag('H')
		e.channel(v)
	case group:
		e.tag('G')
		e.out = binary.AppendVarint(binary.AppendVarint(e.out, v.count), v.waiting)
	case lock:
		e.tag('L')
		e.flag(v.written)
		e.int(v.readers)
		e.int(v.writers)
	default:
		panic(fmt.Sprintf("judge: encoding %T", v))
	}
}

func (e *encoder) closure(c *closure) {
	switch {
	case c == nil:
		e.tag('n')
	case c.builtin != nil:
		e.tag('B')
		e.text(c.builtin.Name())
	default:
		e.tag('F')
		e.int(e.m.funcNumber(c.fn))
		e.values(c.captured)
	}
}

// mapping writes the entries of a map without regard to the order of their insertion,
// where the keys are simple enough to be told apart without the numbers of objects.
func (e *encoder) mapping(m mapping) {
	e.int(len(m))
	order := make([]int, len(m))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareKeys(m[i].key, m[j].key) })
	for _, i := range order {
		e.value(m[i].key)
		e.value(m[i].held)
	}
}

func compareKeys(x, y value) int {
	switch x := x.(type) {
	case int64:
		if y, ok := y.(int64); ok {
			return int(min(max(x-y, -1), 1))
		}
	case string:
		if y, ok := y.(string); ok {
			return strings.Compare(x, y)
		}
	}
	return 0
}

func (e *encoder) channel(c channel) {
	e.int(c.room)
	e.flag(c.closed)
	e.values(c.buffer)
	for _, q := range [][]waiter{c.senders, c.receivers} {
		e.int(len(q))
		for _, w := range q {
			e.text(w.thread)
			e.int(w.branch)
			e.value(w.held)
		}
	}
}

// funcNumber and typeNumber give functions and types names that do not change during a
// search.
func (m *machine) funcNumber(f *ssa.Function) int {
	n, ok := m.funcNumbers[f]
	if !ok {
		n = len(m.funcNumbers)
		m.funcNumbers[f] = n
	}
	return n
}

func (m *machine) typeNumber(t types.Type) int {
	if n := m.typeNumbers.At(t); n != nil {
		return n.(int)
	}
	n := m.typeNumbers.Len()
	m.typeNumbers.Set(t, n)
	return n
}
