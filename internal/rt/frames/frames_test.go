package frames

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

func TestTheSameCallHasTheSameNumber(t *testing.T) {
	var tree Tree
	tree.Reset()
	numbers := map[Node]uint32{}
	for range 2 {
		for parent := range uint32(3) {
			for site := range uint32(2 * listed) { // more than a list holds
				n := Node{Parent: parent, Site: site, PC: 100}
				got := tree.Enter(n)
				if was, known := numbers[n]; known && was != got {
					t.Fatalf("%+v is %d and then %d", n, was, got)
				}
				numbers[n] = got
			}
		}
	}
	if tree.Append(Node{Site: 1, PC: 100}) == numbers[Node{Site: 1, PC: 100}] {
		t.Error("Append does not make a new one")
	}
}

func TestStackIsInnermostFirst(t *testing.T) {
	var tree Tree
	tree.Reset()
	outer := tree.Enter(Node{Site: 1, PC: 10})
	inner := tree.Enter(Node{Parent: outer, Site: 2, PC: 20})
	got := tree.Stack(inner)
	if len(got) != 2 || got[0] != (Call{Site: 2, PC: 20}) || got[1] != (Call{Site: 1, PC: 10}) {
		t.Errorf("%+v", got)
	}
	if got := tree.Stack(0); len(got) != 0 {
		t.Errorf("outside of all functions: %+v", got)
	}
}

func TestSitesOfReturnAddresses(t *testing.T) {
	var tree Tree
	tree.Reset()
	var pcs [16]uintptr
	n := runtime.Callers(0, pcs[:]) // runtime.Callers itself comes first
	site := tree.FirstSite(pcs[:n])
	pc, ok := tree.PC(site)
	if site < event.CallSites || !ok {
		t.Fatalf("site %d, %t", site, ok)
	}
	if f := Frame(pc); !strings.HasSuffix(f.Function, ".TestSitesOfReturnAddresses") {
		t.Errorf("the site is in %s", f.Function)
	}
	if again := tree.FirstSite(pcs[:n]); again != site {
		t.Errorf("the second time it is %d", again)
	}
	if _, ok := tree.PC(site + 1); ok {
		t.Error("a site that was not given out has an address")
	}
	var other Tree
	other.Reset()
	other.Site(pcs[0])
	if there := other.FirstSite(pcs[:n]); there != site {
		t.Errorf("after another one it is %d, and not %d", there, site)
	}
	if all := tree.Sites(); len(all) != 1 || all[0] != site {
		t.Errorf("the sites are %d", all)
	}
	if none := tree.FirstSite(pcs[n-1 : n]); none != 0 { // where goroutines begin
		t.Errorf("a function of the library has the site %d", none)
	}
}

func TestPackageOf(t *testing.T) {
	for function, want := range map[string]string{
		"example.com/a.b/bank.(*Account).Deposit": "example.com/a.b/bank", "main.main": "main", "none": "none",
	} {
		if got := PackageOf(function); got != want {
			t.Errorf("%s is in %q", function, got)
		}
	}
	if !strings.HasSuffix(hooksPackage, "/rt") {
		t.Errorf("the hooks are in %s", hooksPackage)
	}
}

func TestWithinAndPasses(t *testing.T) {
	var tree Tree
	tree.Reset()
	outer := tree.Enter(Node{Site: 100, PC: 10})
	born := tree.Enter(Node{Parent: outer, Site: 2, PC: 20})
	library := tree.Enter(Node{Parent: born, Site: 3, PC: 30})
	own := tree.Enter(Node{Parent: library, Site: 101, PC: 40})
	if !tree.Within(own, outer) || !tree.Within(own, own) || !tree.Within(own, 0) || tree.Within(outer, own) {
		t.Error("a frame is within the calls that lead to it, and in no others")
	}
	if tree.Passes(library, born, 100) {
		t.Error("what was called before the goroutine began is none of its calls")
	}
	if !tree.Passes(own, born, 100) || !tree.Passes(library, 0, 100) {
		t.Error("a call of the program is not seen")
	}
}

// TestAStackEndsWhereItsGoroutineBegins: the calls around the go statement are another goroutine's.
func TestAStackEndsWhereItsGoroutineBegins(t *testing.T) {
	var tree Tree
	tree.Reset()
	starts := tree.Enter(Node{Site: 1})
	begins := tree.Enter(Node{Parent: starts, Site: 2, First: true})
	inner := tree.Enter(Node{Parent: begins, Site: 3})
	var sites []uint32
	for _, c := range tree.Stack(inner) {
		sites = append(sites, c.Site)
	}
	if len(sites) != 2 || sites[0] != 3 || sites[1] != 2 {
		t.Errorf("the stack is of %v, want 3 and 2", sites)
	}
	if !tree.Within(inner, starts) {
		t.Error("the goroutine is not known to come from where it was started")
	}
}
