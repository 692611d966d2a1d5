package aside

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// TestPagesOfGarbageAreGivenBack: a program may make as many objects as it likes, one after
// another. The pages of those that are garbage are given back; those of the others stay.
func TestPagesOfGarbageAreGivenBack(t *testing.T) {
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

// collect has the collector find what is garbage, and what is to be done with that done.
func collect(t *testing.T) {
	for range 3 {
		o := Make(part{})
		g := o.Get().Guard
		await.Until(t, "another object to be found garbage", func() bool {
			runtime.GC()
			return !isOpen(g)
		})
	}
}

// TestAStoreUnderWayHoldsItsPages: between finding a page and the end of the statement the object may
// become garbage, however long that takes.
func TestAStoreUnderWayHoldsItsPages(t *testing.T) {
	pages := func() *Pages[part] { o := Make(part{5}); return o.Get() }()
	view := pages.View()
	collect(t)
	if view.n++; view.n != 6 {
		t.Errorf("a statement finds %d, want 6", view.n)
	}
	pages.Keep()
}

// TestALoadUnderWayHoldsItsPages: a load that waits for a section is all that is left of an object.
func TestALoadUnderWayHoldsItsPages(t *testing.T) {
	var got part
	var wg sync.WaitGroup
	begun := make(chan bool)
	g := func() *Guard {
		o := Make(part{5})
		p := o.Get()
		p.Lock()
		wg.Go(func() {
			close(begun)
			got = p.Load()
		})
		return p.Guard
	}()
	<-begun
	collect(t)
	g.Unlock()
	wg.Wait()
	if got.n != 5 {
		t.Errorf("a load that had to wait has %d, want 5", got.n)
	}
}

// forgetVariable says in a process that it is the one that forgets.
const forgetVariable = "COFFERDAM_ASIDE_FORGET"

// TestAForgottenObjectEndsTheProgram: an access that does not hold on to its object is found, by a page
// that is nobody's. If it were not, the tests of those that do would mean nothing.
func TestAForgottenObjectEndsTheProgram(t *testing.T) {
	if os.Getenv(forgetVariable) != "" {
		view, g := func() (*part, *Guard) { o := Make(part{5}); return o.Get().View(), o.Get().Guard }()
		await.Until(t, "the object to be found garbage", func() bool {
			runtime.GC()
			return !isOpen(g)
		})
		t.Logf("the access found %d", view.n)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), forgetVariable+"=1")
	out, err := cmd.CombinedOutput()
	if protected() && (err == nil || !strings.Contains(string(out), "fault")) {
		t.Errorf("an access to a page that was given back went through (%v):\n%s", err, out)
	}
}
