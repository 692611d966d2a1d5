package wicket_test

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// A node is what the rewriter makes of struct { next *node; n, m int; a [64]int }, whose lock is in a list.
type node struct {
	x    wicket.Stamp
	n, m int
	a    [64]int
}

type list struct {
	readers wicket.Readers
	mu      sync.RWMutex
}

// What the rewriter writes for uses in sections: reading and writing of fields.
const (
	readN, writeN = 1 << 16, 1<<16 | 1<<24
	readM, writeM = 2 << 16, 2<<16 | 2<<24
	writeA        = 4<<16 | 4<<24
	nodeN, nodeM  = 1, 2
	nodeA         = 4
)

func (o *node) use(s *wicket.Section, uses uint64) *node {
	if o != nil && o.x.Lacks(s, uses) {
		wicket.Take[namesOfNode](&o.x, s, uses)
	}
	return o
}

type namesOfNode struct{}

func (namesOfNode) CofferdamNames() (string, string, string, int) {
	return "node.n", "list.mu", "list.go", 7
}

func (o *node) loadN() int   { return wicket.LoadNode[namesOfNode](&o.x, nodeN, &o.n) }
func (o *node) loadM() int   { return wicket.LoadNode[namesOfNode](&o.x, nodeM, &o.m) }
func (o *node) storeN(v int) { wicket.StoreNode[namesOfNode](&o.x, nodeN, &o.n, v) }
func (o *node) storeM(v int) { wicket.StoreNode[namesOfNode](&o.x, nodeM, &o.m, v) }
func (o *node) toN() wicket.NodeTarget[namesOfNode, int] {
	return wicket.ToNode[namesOfNode](&o.x, nodeN, &o.n)
}
func (o *node) loadA() [64]int { return wicket.LoadNode[namesOfNode](&o.x, nodeA, &o.a) }

// accesses are all kinds that there are without the lock.
var accesses = map[string]func(o *node) int{
	"load":   func(o *node) int { return o.loadN() },
	"store":  func(o *node) int { o.storeN(7); return 2 },
	"update": func(o *node) int { k := o.toN(); p := k.Begin(); *k.P++; p.End(); return 2 },
}

func TestAStampIsSmall(t *testing.T) {
	if size := reflect.TypeFor[wicket.Stamp]().Size(); size != 16 {
		t.Errorf("a stamp has %d bytes", size)
	}
}

func TestAnAccessWaitsForTheSectionThatHasUsedTheNode(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	for name, access := range accesses {
		t.Run(name, func(t *testing.T) {
			l, o := new(list), new(node)
			seen := 0
			all := findings(func() {
				var s wicket.Section
				l.mu.Lock()
				s.Lock()
				o.use(&s, writeN).n = 1
				ended := sleeping(t, func() { seen = access(o) })
				if o.use(&s, readN).n != 1 {
					t.Errorf("the section finds %d", o.n)
				}
				o.use(&s, writeN).n = 2
				s.Leave()
				l.mu.Unlock()
				s.Wake()
				await.Receive(t, "the access", ended)
			})
			if seen != 2 {
				t.Errorf("the access saw %d", seen)
			}
			if len(all) != 1 || all[0].Outcomes.Delayed != 1 || all[0].Guard.Name != "list.mu" || all[0].Accesses[1].Site().Function == "" {
				t.Errorf("findings are %v", all)
			}
		})
	}
}

// TestNodesThatNoSectionUsesAreFree: most programs have nodes that no other goroutine knows, before they are in a list and
// when they were taken out. A goroutine that uses them does not wait, and is not told of.
func TestNodesThatNoSectionUsesAreFree(t *testing.T) {
	l, used, fresh, gone := new(list), new(node), new(node), new(node)
	all := findings(func() {
		var s wicket.Section
		l.mu.Lock()
		s.Lock()
		gone.use(&s, writeN).n = 1
		s.Leave()
		l.mu.Unlock()
		s.Wake()
		var other wicket.Section
		l.mu.Lock()
		other.Lock()
		used.use(&other, writeN).n = 1
		used.use(&other, readM)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for _, o := range []*node{fresh, gone} {
				for _, access := range accesses {
					access(o)
				}
			}
			used.loadM() // which the section only reads
		}()
		await.Receive(t, "the accesses", ended)
		other.Leave()
		l.mu.Unlock()
		other.Wake()
	})
	if len(all) > 0 {
		t.Errorf("findings are %v", all)
	}
}

// TestWhatIsPassedOnIsFree: a section that lets another goroutine have a node is interrupted for that, and does not keep the
// node if it does not use it again.
func TestWhatIsPassedOnIsFree(t *testing.T) {
	o, kept := new(node), new(node)
	all := findings(func() {
		var s wicket.Section
		s.Lock()
		o.use(&s, writeN).n = 1
		kept.use(&s, writeN).n = 1
		s.Unlock()
		passed, ended := make(chan *node), make(chan struct{})
		go func() {
			defer close(ended)
			o := <-passed
			o.storeN(o.loadN() + 1)
		}()
		passed <- o
		s.Lock() // as a section goes on that never relents
		kept.use(&s, readN)
		await.Receive(t, "the goroutine that has the node", ended)
		if !wicket.RaceBuild && (!kept.x.IsStampedBy(&s) || o.x.IsStampedBy(&s)) {
			t.Error("the section has another node than the one that it has kept")
		}
		s.Leave()
		s.Wake()
	})
	if len(all) > 0 || o.n != 2 {
		t.Errorf("findings are %v, and the node has %d", all, o.n)
	}
}

// TestCodeThatASectionCallsIsInIt: what a function does that a section calls is done by the section.
func TestCodeThatASectionCallsIsInIt(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	for depth := range 5 { // sections of other locks that the goroutine is in
		o := new(node)
		sections := make([]wicket.Section, depth+1)
		for i := range sections {
			sections[i].Lock()
		}
		s := &sections[depth]
		o.storeN(1)
		if o.loadN() != 1 {
			t.Error("a section does not find what it has stored")
		}
		seen := 0
		ended := sleeping(t, func() { seen = o.loadN() })
		o.storeN(2)
		s.Leave()
		for i := range depth {
			sections[i].LeaveMine()
		}
		s.Wake()
		await.Receive(t, "the load", ended)
		if seen != 2 {
			t.Errorf("a load sees %d", seen)
		}
	}
	if !wicket.SlotsAreFree() {
		t.Error("a slot is not free")
	}
}

func TestASectionOnNodesThatWaitsLetsAccessesPass(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	o := new(node)
	all := findings(func() {
		var s wicket.Section
		s.Lock()
		o.use(&s, writeN).n = 1
		s.Relent()
		done := make(chan struct{})
		go func() {
			defer close(done)
			o.storeN(2)
		}()
		await.Receive(t, "a store that the section waits for", done)
		s.Resume()
		if o.use(&s, readN).n != 2 {
			t.Errorf("the section finds %d", o.n)
		}
		s.LeaveMine()
	})
	if len(all) > 0 {
		t.Errorf("findings are %v", all)
	}
}

func TestAStoreToANodeWaitsForAllReaders(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	l, o := new(list), new(node)
	var first, second wicket.Section
	all := findings(func() {
		first.RLock(&l.readers)
		second.RLock(&l.readers)
		o.use(&first, readN)
		o.use(&second, readN)
		if o.loadN() != 0 { // which waits for nobody
			t.Error("a load sees what there is not")
		}
		ended := sleeping(t, func() { o.storeN(1) })
		first.RUnlock()
		if o.use(&second, readN).n != 0 {
			t.Error("a store passes a reader")
		}
		second.RUnlock()
		await.Receive(t, "the store", ended)
	})
	if len(all) != 1 || all[0].Outcomes != (finding.Once(finding.Delayed, 0, all[0].First).Outcomes) {
		t.Errorf("findings are %v", all)
	}
	if !wicket.SlotsAreFree() {
		t.Error("a slot is not free")
	}
}

// TestThereAreSlotsForManySections: goroutines that sleep in sections keep their slots.
func TestThereAreSlotsForManySections(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	const many = 3000
	var ready, wg sync.WaitGroup
	leave := make(chan struct{})
	ready.Add(many)
	for range many {
		wg.Go(func() {
			var s wicket.Section
			o := new(node)
			s.Lock()
			o.use(&s, writeN).n = 1
			if !o.x.IsStampedBy(&s) {
				t.Error("a section has no slot")
			}
			s.Relent()
			ready.Done()
			<-leave
			s.Resume()
			s.LeaveMine()
		})
	}
	ready.Wait()
	close(leave)
	wg.Wait()
	if !wicket.SlotsAreFree() {
		t.Error("a slot is not free")
	}
}

// TestStressOnNodes has sections of both kinds on a few nodes, which they find in lists, and look whether they are disturbed,
// beside careless loads and stores.
func TestStressOnNodes(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	const nodes, between = 4, 1 << 30
	all := make([]node, nodes)
	l := new(list)
	var stop atomic.Bool
	var disturbed, sections, made atomic.Int64
	var wg sync.WaitGroup
	run := func(f func(o, p *node, i int)) {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				f(&all[i%nodes], &all[(i+1)%nodes], i)
			}
		})
	}
	see := func(ok bool) {
		if !ok {
			disturbed.Add(1)
		}
	}
	for range 2 {
		run(func(o, p *node, i int) {
			var s wicket.Section
			l.mu.Lock()
			s.Lock()
			before := o.use(&s, readN).n
			o.use(&s, writeN).n = between
			read := p.use(&s, readM).m
			if i%8 == 0 {
				runtime.Gosched()
			}
			see(o.use(&s, readN).n == between && p.use(&s, readM).m == read)
			if i%64 == 0 {
				o.use(&s, writeN).n = before
				s.Relent()
				runtime.Gosched()
				s.Resume()
				before = o.use(&s, readN).n
				o.use(&s, writeN).n = between
			}
			p.storeN(p.loadN() + 1) // by a function that it calls
			see(o.loadN() == between || o == p)
			o.use(&s, writeN).n = before + 1
			s.Leave()
			l.mu.Unlock()
			s.Wake()
			sections.Add(1)
		})
		run(func(o, p *node, i int) {
			var s wicket.Section
			l.mu.RLock()
			s.RLock(&l.readers)
			n, m := o.use(&s, readN).n, p.use(&s, readM).m
			runtime.Gosched()
			see(o.use(&s, readN).n == n && p.use(&s, readM).m == m && n != between)
			s.RUnlock()
			l.mu.RUnlock()
			sections.Add(1)
		})
	}
	run(func(o, p *node, i int) {
		see(o.loadN() != between)
		p.loadM()
		made.Add(2)
	})
	run(func(o, p *node, i int) {
		o.storeN(i)
		p.storeM(i)
		k := o.toN()
		passage := k.Begin()
		*k.P++
		passage.End()
		made.Add(3)
	})
	for sections.Load() < int64(*stressTimes)*1_000 {
		runtime.Gosched()
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d sections, %d accesses", sections.Load(), made.Load())
	if n := disturbed.Load(); n > 0 {
		t.Errorf("%d of %d sections and accesses were disturbed", n, sections.Load()+made.Load())
	}
	for i := range all {
		if !all[i].x.IsIdle() {
			t.Errorf("what is left of node %d is %+v", i, &all[i].x)
		}
	}
	if !wicket.SlotsAreFree() {
		t.Error("a slot is not free")
	}
}

// TestStressByTwoOnANode is TestStressByTwo for a node.
func TestStressByTwoOnANode(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	const between = 1 << 30
	for name, access := range map[string]func(o *node) (ok bool){
		"load":   func(o *node) bool { a := o.loadA(); return a[0] == a[63] && o.loadN() != between },
		"store":  func(o *node) bool { o.storeN(7); return true },
		"update": func(o *node) bool { k := o.toN(); p := k.Begin(); *k.P = 8; p.End(); return true },
	} {
		t.Run(name, func(t *testing.T) {
			var stop atomic.Bool
			var wg sync.WaitGroup
			l, o := new(list), new(node)
			disturbed, sections, wrong := 0, 0, 0
			wg.Go(func() {
				for sections < *stressTimes*1_000_000 {
					var s wicket.Section
					l.mu.Lock()
					s.Lock()
					before := o.use(&s, writeN).n
					o.n = between
					o.use(&s, writeA)
					for i := range o.a {
						o.a[i]++
					}
					for range sections % 16 {
						if sees(&o.n) != between {
							disturbed++
						}
					}
					o.n = before
					s.Leave()
					l.mu.Unlock()
					s.Wake()
					sections++
				}
				stop.Store(true)
			})
			wg.Go(func() {
				for !stop.Load() {
					if !access(o) {
						wrong++
					}
				}
			})
			wg.Wait()
			if disturbed+wrong > 0 {
				t.Errorf("%d of %d sections were disturbed, %d accesses have seen what they should not", disturbed, sections, wrong)
			}
		})
	}
}
