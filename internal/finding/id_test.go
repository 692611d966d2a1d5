package finding

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRepeatsHaveTheSameID(t *testing.T) {
	first := stolen()
	for name, change := range map[string]func(*Finding){
		"goroutines": func(f *Finding) { f.Accesses[0].Goroutine, f.Accesses[1].Goroutine = 901, 902 },
		"address":    func(f *Finding) { f.Accesses[0].Address++ },
		"target":     func(f *Finding) { f.Accesses[0].Target = "" },
		"outcome":    func(f *Finding) { f.History = Once(Surrendered, time.Second, noon.Add(time.Hour)) },
		"prose":      func(f *Finding) { f.Explanation = "in other words" },
		"callers":    func(f *Finding) { f.Accesses[0].Stack[1] = Frame{Function: "main.other", File: "/o.go", Line: 1} },
		"checkout": func(f *Finding) {
			move := func(file *string) { *file = strings.Replace(*file, "/home/ann", "/builds/4711", 1) }
			move(&f.Guard.Site.File)
			for _, a := range f.Accesses {
				for i := range a.Stack {
					move(&a.Stack[i].File)
				}
			}
		},
		"trimmed paths": func(f *Finding) {
			f.Guard.Site.File = "bank.go"
			f.Accesses[0].Stack[0].File = "steal.go"
		},
	} {
		f := stolen()
		change(&f)
		if f.ID() != first.ID() {
			t.Errorf("%s: id changed from %v to %v", name, first.ID(), f.ID())
		}
	}
}

func TestAccessesWithoutRolesHaveOneIDInEveryOrder(t *testing.T) {
	for _, kind := range Kinds {
		first := stolen()
		first.Kind = kind
		other, third, shorter, turned := first, first, first, first
		other.Accesses = []Access{first.Accesses[1], first.Accesses[0]}
		third.Accesses = []Access{first.Accesses[1], first.Accesses[0], first.Accesses[1]}
		shorter.Accesses = first.Accesses[:1]
		turned.Accesses = slices.Clone(first.Accesses)
		turned.Accesses[0].Op, turned.Accesses[1].Op = Read, Write
		alike := kind == Race || kind == Deadlock || kind == PartialDeadlock || kind == Leak
		if (first.ID() == other.ID()) != alike || (first.Outline() == other.Outline()) != alike {
			t.Errorf("%s: %v, and %v the other way round", kind, first.ID(), other.ID())
		}
		if (first.ID() == third.ID()) != alike {
			t.Errorf("%s: %v, and %v with one more at the same place", kind, first.ID(), third.ID())
		}
		if (first.ID() == turned.ID()) != alike {
			t.Errorf("%s: %v, and %v when the other access writes", kind, first.ID(), turned.ID())
		}
		if first.ID() == shorter.ID() {
			t.Errorf("%s: a place that is left out does not count", kind)
		}
	}
}

func TestOtherDefectsHaveOtherIDs(t *testing.T) {
	first := stolen()
	seen := map[ID]string{first.ID(): "the original"}
	for name, change := range map[string]func(*Finding){
		"kind":             func(f *Finding) { f.Kind = Bypass },
		"guard name":       func(f *Finding) { f.Guard.Name = "audit" },
		"guard line":       func(f *Finding) { f.Guard.Site.Line++ },
		"op":               func(f *Finding) { f.Accesses[0].Op = Read },
		"careless line":    func(f *Finding) { f.Accesses[0].Stack[0].Line++ },
		"careless file":    func(f *Finding) { f.Accesses[0].Stack[0].File = "/home/ann/bank/rob.go" },
		"package":          func(f *Finding) { f.Accesses[0].Stack[0].Function = "example.com/bank.steal" },
		"holder line":      func(f *Finding) { f.Accesses[1].Stack[0].Line++ },
		"holder unknown":   func(f *Finding) { f.Accesses = f.Accesses[:1] },
		"roles":            func(f *Finding) { f.Accesses[0], f.Accesses[1] = f.Accesses[1], f.Accesses[0] },
		"fields run on":    func(f *Finding) { f.Guard.Name, f.Guard.Site.Function = "accountsmain", ".NewBank" },
		"site in a caller": func(f *Finding) { f.Accesses[0].Stack = f.Accesses[0].Stack[1:] },
	} {
		f := stolen()
		change(&f)
		if other, ok := seen[f.ID()]; ok {
			t.Errorf("%s: same id as %s", name, other)
		}
		seen[f.ID()] = name
	}
}

// IDs are kept in files and compared with those of later releases.
func TestIDIsTheSameInEveryRelease(t *testing.T) {
	f := stolen()
	if got, want := f.ID().String(), stolenID; got != want {
		t.Errorf("id is %s, was %s in earlier releases", got, want)
	}
}

func TestOnlyTheTextOfAnIDIsAnID(t *testing.T) {
	want := ID(0x00ab)
	var got ID
	if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
		t.Errorf("read %v back as %v, %v", want, got, err)
	}
	for _, text := range []string{"", "ab", "00000000000000AB", "00000000000000ag", "-0000000000000ab", "000000000000000ab"} {
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// TestAccessesWithoutAPlaceDifferByTheirTarget: two variables of one lock whose writers are not
// known are two findings, and an access whose place is known is the same whatever it is known to be to.
func TestAccessesWithoutAPlaceDifferByTheirTarget(t *testing.T) {
	of := func(target string, stack ...Frame) ID {
		f := Finding{Kind: Violation, Guard: Guard{Name: "T.mu"}, Accesses: []Access{{Op: Write, Target: target, Stack: stack}, {Op: Lock}}}
		return f.ID()
	}
	if of("T.a") == of("T.b") {
		t.Error("writes of two variables are one finding")
	}
	at := Frame{Function: "f", File: "f.go", Line: 1}
	if of("T.a", at) != of("", at) {
		t.Error("a write at a known place is another finding when its target is known")
	}
}
