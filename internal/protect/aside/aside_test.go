package aside

import (
	"strings"
	"sync"
	"testing"
)

type part struct{ n int }

func (part) CofferdamNames() (name, lock, file string, line int) { return "T", "T.mu", "t.go", 3 }

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
