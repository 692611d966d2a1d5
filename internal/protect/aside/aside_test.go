package aside

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/isolate"
)

type part struct{ n int }

func (part) CofferdamNames() (name, lock, file string, line int, keeps bool) {
	return "T", "T.mu", "t.go", 3, false
}

// TestObjectsBeyondTheLimitAreOnTheHeap: a program may have as many objects as it likes.
// All work, the first of them are on pages, and the program is told.
func TestObjectsBeyondTheLimitAreOnTheHeap(t *testing.T) {
	objects := make([]Object[part], most+10)
	for i := range objects {
		p := objects[i].Get()
		p.Lock()
		p.Own.n = i
		if p.View() != p.Own {
			t.Fatalf("object %d: its section has the shared view", i)
		}
		p.Unlock()
	}
	for i := range objects {
		if p := objects[i].Get(); p.Shared.n != i {
			t.Fatalf("object %d has %d", i, p.Shared.n)
		}
	}
	if p := objects[0].Get(); protected() && p.Shared == p.Own {
		t.Error("the first object is not on pages")
	}
	if p := objects[most].Get(); p.Shared != p.Own {
		t.Errorf("object %d is on pages", most)
	}
	if w := weakness(); protected() && !strings.Contains(w, "not isolated") {
		t.Errorf("nothing is said of objects without pages: %q", w)
	}
}

func protected() bool { return !strings.HasPrefix(weakness(), "nothing is isolated") }

// TestMadeObjectsHaveTheirValue: a literal that sets a field makes the object with it.
func TestMadeObjectsHaveTheirValue(t *testing.T) {
	o := Make(part{5})
	if p := o.Get(); p.Shared.n != 5 || p.Own.n != 5 {
		t.Errorf("an object made with 5 has %d and %d", p.Shared.n, p.Own.n)
	}
}

// TestObjectIsMadeOnce: whichever goroutine asks first, all get the same pages.
func TestObjectIsMadeOnce(t *testing.T) {
	var o Object[part]
	var all [8]*Pages[part]
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i] = o.Get() })
	}
	wg.Wait()
	for _, p := range all {
		if p != all[0] {
			t.Fatal("an object was made twice")
		}
	}
}

// TestPagesOfGarbageAreGivenBack: a program may make as many objects as it likes, one after
// another. The pages of those that are garbage rest, and are given back; those of the others stay.
func TestPagesOfGarbageAreGivenBack(t *testing.T) {
	restFor(t, 0)
	await.Until(t, "pages of other tests", func() bool {
		runtime.GC()
		making.Lock()
		defer making.Unlock()
		return made < most/2
	})
	kept := Make(part{7})
	var cell CellField[part, *int]
	cell.Get().Store(new(int))
	var guards []*Guard
	for i := range 50 {
		o := Make(part{i})
		p := o.Get()
		p.Lock()
		p.Own.n++
		p.Unlock()
		var f CellField[part, *int]
		f.Get().Store(new(int))
		guards = append(guards, p.Guard, f.Get().Guard)
	}
	await.Until(t, "the pages of garbage to be given back", func() bool {
		runtime.GC()
		return !slices.ContainsFunc(guards, isOpen)
	})
	if !isOpen(kept.Get().Guard) || !isOpen(cell.Get().Guard) {
		t.Error("the pages of an object that is alive were given back")
	}
	if p := kept.Get(); p.Shared.n != 7 || p.Own.n != 7 {
		t.Errorf("an object that is alive has %d and %d, want 7", p.Shared.n, p.Own.n)
	}
	if *cell.Get().Load() != 0 {
		t.Error("a cell that is alive has lost its pointer")
	}
	runtime.KeepAlive(&kept)
	runtime.KeepAlive(&cell)
}

// isOpen reports whether a guard has its pages.
func isOpen(g *Guard) (open bool) {
	defer func() { open = recover() == nil }()
	isolate.New[part](g)
	return true
}

// TestPagesOfGarbageRestForAWhile: an access may be under way that finds the object's page later.
func TestPagesOfGarbageRestForAWhile(t *testing.T) {
	restFor(t, time.Hour)
	shared := func() *int { o := Make(part{5}); return &o.Get().Shared.n }()
	await.Until(t, "the object to be found garbage", func() bool {
		runtime.GC()
		making.Lock()
		defer making.Unlock()
		return len(resting) > 0 && collections >= resting[len(resting)-1].until
	})
	if *shared != 5 {
		t.Errorf("an access that was under way finds %d, want 5", *shared)
	}
}

// restFor sets how long pages rest.
func restFor(t *testing.T, d time.Duration) {
	set := func(d time.Duration) (old time.Duration) {
		making.Lock()
		defer making.Unlock()
		old, restTime = restTime, d
		return old
	}
	old := set(d)
	t.Cleanup(func() { set(old) })
}
