package finding

import (
	"strings"
	"testing"
)

// at returns the violation of stolen with its careless access in another line.
func at(line int) Finding {
	f := stolen()
	f.Accesses[0].Stack[0].Line = line
	return f
}

func baseline(t *testing.T, text string) *Baseline {
	t.Helper()
	b, err := ReadBaseline(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBaselineKnowsWhatItHas(t *testing.T) {
	elsewhere := stolen()
	elsewhere.Accesses[0].Stack[0].Function = "main.borrow"
	var short strings.Builder
	if _, err := baseline(t, encode(t, at(31))).WriteTo(&short); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{encode(t, at(31)), "# known since May\n\n" + short.String(), encode(t, at(31), at(31))} {
		b := baseline(t, text)
		if fresh := b.New([]Finding{at(31), elsewhere}); len(fresh) != 1 || fresh[0].ID() != elsewhere.ID() {
			t.Errorf("%s: new are %v", text, fresh)
		}
		// The function was moved.
		b = baseline(t, text)
		if fresh := b.New([]Finding{at(35)}); len(fresh) != 0 {
			t.Errorf("%s: a moved function is new: %v", text, fresh)
		}
		// There is one more mistake in the function, in whatever order they are found.
		for _, all := range [][]Finding{{at(31), at(35)}, {at(35), at(31)}} {
			b = baseline(t, text)
			if fresh := b.New(all); len(fresh) != 1 || fresh[0].ID() != all[0].ID() && fresh[0].ID() != all[1].ID() {
				t.Errorf("%s: of two mistakes in a function %d are new", text, len(fresh))
			}
			if fresh := b.New(all); len(fresh) != 1 || fresh[0].Accesses[0].Site().Line != 35 {
				t.Errorf("%s: new is %v, want that of line 35", text, fresh)
			}
		}
	}
}

func TestBaselineByHandKnowsIDsAlone(t *testing.T) {
	f := stolen()
	b := baseline(t, stolenID+"  the balance is only shown\n")
	if !b.Known(&f) {
		t.Error("an id is not known")
	}
	if moved := at(35); b.Known(&moved) {
		t.Error("another id is known")
	}
	for _, text := range []string{"nonsense", "{}", "12"} {
		if _, err := ReadBaseline(strings.NewReader("# a\n" + text)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNoBaselineKnowsNothing(t *testing.T) {
	f := stolen()
	for _, b := range []*Baseline{nil, new(Baseline)} {
		if b.Known(&f) || len(b.New([]Finding{f})) != 1 {
			t.Error("a finding is known")
		}
	}
}

// TestABaselineTakesIDsByThemselves: also one that knew nothing before.
func TestABaselineTakesIDsByThemselves(t *testing.T) {
	f := Finding{Kind: Deviation, Accesses: []Access{{Stack: []Frame{{File: "a.go", Line: 3}}}}}
	var b Baseline
	if err := b.AddIDs("no id"); err == nil {
		t.Error("anything is an id")
	}
	if b.Known(&f) {
		t.Error("it is known without a reason")
	}
	if err := b.AddIDs(f.ID().String()); err != nil || !b.Known(&f) {
		t.Errorf("%v; it is not known by its id", err)
	}
}
