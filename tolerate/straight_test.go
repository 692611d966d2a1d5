package tolerate_test

import (
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// outcomes returns how often each outcome was recorded for a label.
func outcomes(label string) (tally finding.Tally) {
	for _, f := range tolerate.Findings() {
		if f.Guard.Name == label {
			return f.History.Outcomes
		}
	}
	return tally
}

// straight runs a section over a variable as a rewriter writes it: the section makes
// it ours, and careless code, if it is asked to, makes it theirs meanwhile.
func straight[T any](put func(p *T, own, before T, l *tolerate.Label), l *tolerate.Label, p *T, ours *T, theirs *T) T {
	v := tolerate.Take(p)
	b := v
	if ours != nil {
		v = *ours
	}
	if theirs != nil {
		*p = *theirs
	}
	put(p, v, b, l)
	return *p
}

func wide[T any](p *T, own, before T, l *tolerate.Label) { tolerate.PutWide(p, &own, &before, l) }

func TestStraightSectionsPublish(t *testing.T) {
	one, two := 1, 2
	small, negative := int8(-3), math.Copysign(0, -1)
	text, other := "ours", &two
	var n int
	var i8 int8
	var f float64
	var s string
	var p *int
	l := &tolerate.Label{Name: "published"}
	if got := straight(tolerate.PutScalar, l, &n, &one, nil); got != 1 {
		t.Errorf("an int is %d", got)
	}
	if got := straight(tolerate.PutScalar, l, &i8, &small, nil); got != -3 {
		t.Errorf("an int8 is %d", got)
	}
	if got := straight(tolerate.PutScalar, l, &f, &negative, nil); !math.Signbit(got) {
		t.Errorf("a float64 is %v, want -0", got)
	}
	if got := straight(wide, l, &s, &text, nil); got != "ours" {
		t.Errorf("a string is %q", got)
	}
	if got := straight(tolerate.Settle, l, &p, &other, nil); got != &two {
		t.Errorf("a pointer is %p, want %p", got, &two)
	}
	type pair struct {
		a int
		b string
	}
	q := pair{1, "one"}
	if got := straight(wide, l, &q, &pair{2, "one"}, nil); got != (pair{2, "one"}) {
		t.Errorf("a struct is %v", got)
	}
	if got := outcomes("published"); got != (finding.Tally{}) {
		t.Errorf("nobody interfered, and there are findings: %+v", got)
	}
}

func TestStraightSectionsRecogniseInterference(t *testing.T) {
	ours, theirs := 1, 2
	for _, test := range []struct {
		name  string
		blind bool
		ours  *int
		want  int
		tally finding.Tally
	}{
		{"only read", false, nil, 2, finding.Tally{Tolerated: 1}},
		{"both changed", false, &ours, 2, finding.Tally{Resolved: 1}},
		{"blind", true, &ours, 1, finding.Tally{Tolerated: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &tolerate.Label{Name: "straight " + test.name, Blind: test.blind}
			n := 0
			if got := straight(tolerate.PutScalar, l, &n, test.ours, &theirs); got != test.want {
				t.Errorf("it is %d, want %d", got, test.want)
			}
			if got := outcomes(l.Name); got != test.tally {
				t.Errorf("recorded %+v, want %+v", got, test.tally)
			}
		})
	}
}

// TestStraightSectionsMerge: what a section has written is not given up for a careless value,
// and where it is known how the section changes a variable both changes count.
func TestStraightSectionsMerge(t *testing.T) {
	type pair struct{ a, b int }
	check := func(got, want any, m tolerate.Merge) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s leaves %v, want %v", m, got, want)
		}
	}
	for m, want := range map[tolerate.Merge]int{tolerate.Yielding: 300, tolerate.Keeping: 150, tolerate.Adding: 350, tolerate.Raising: 300, tolerate.Lowering: 150} {
		n := 100
		check(straight(tolerate.PutScalar, &tolerate.Label{Name: "merged number", Merge: m}, &n, new(150), new(300)), want, m)
	}
	for m, want := range map[tolerate.Merge]pair{tolerate.Keeping: {2, 7}, tolerate.Adding: {4, 7}} {
		p := pair{1, 5}
		check(straight(wide, &tolerate.Label{Name: "merged pair", Merge: m}, &p, &pair{2, 5}, &pair{3, 7}), want, m)
	}
	for m, want := range map[tolerate.Merge]uint8{tolerate.Adding: 252, tolerate.Raising: 251, tolerate.Lowering: 250} {
		a := [3]uint8{249, 1, 2}
		check(straight(wide, &tolerate.Label{Name: "merged array", Merge: m}, &a, &[3]uint8{250, 1, 9}, &[3]uint8{251, 1, 2}), [3]uint8{want, 1, 9}, m)
	}
	list := []int{1}
	check(straight(wide, &tolerate.Label{Name: "merged list", Merge: tolerate.Appending}, &list, &[]int{1, 2}, &[]int{1, 3, 4}), []int{1, 3, 4, 2}, tolerate.Appending)
	text := "a"
	check(straight(wide, &tolerate.Label{Name: "merged text", Merge: tolerate.Appending}, &text, new("ab"), new("ac")), "acb", tolerate.Appending)
	f := 1.5
	check(straight(tolerate.PutScalar, &tolerate.Label{Name: "merged float", Merge: tolerate.Adding}, &f, new(2.0), new(4.5)), 5.0, tolerate.Adding)
}

// TestSameIsBitByBit: what == says is not what decides whether a variable was changed.
func TestSameIsBitByBit(t *testing.T) {
	nan := math.NaN()
	if tolerate.SameFloat(0, math.Copysign(0, -1)) {
		t.Error("0 is -0")
	}
	if !tolerate.SameFloat(nan, nan) || tolerate.SameFloat(math.Float32frombits(0x7f800001), math.Float32frombits(0x7fc00001)) {
		t.Error("NaNs are told apart by something else than their bits")
	}
	text := []byte("text")
	if a, b := string(text), string(text); tolerate.SameString(a, b) || !tolerate.SameString(a, a) || tolerate.SameString(a, a[:1]) {
		t.Error("strings are told apart by something else than where they are")
	}
	list := make([]int, 2, 4)
	if !tolerate.SameSlice(list, list) || tolerate.SameSlice(list, list[:2:2]) || tolerate.SameSlice(list, list[:1]) {
		t.Error("slices are told apart by something else than pointer, length and capacity")
	}
	if a, b := error(&os.PathError{}), error(&os.PathError{}); tolerate.SameInterface(a, b) || !tolerate.SameInterface(a, a) {
		t.Error("interfaces are told apart by something else than their words")
	}
	if m := map[int]int{}; !tolerate.SamePointer(m, m) || tolerate.SamePointer(m, nil) {
		t.Error("maps are told apart by something else than where they are")
	}
}

// TestStraightStructsAreMergedByField: the fields that nobody else has changed are
// published.
func TestStraightStructsAreMergedByField(t *testing.T) {
	type pair struct {
		a int
		b string
	}
	q := pair{1, "one"}
	l := &tolerate.Label{Name: "merged"}
	if got := straight(wide, l, &q, &pair{2, "one"}, &pair{1, "theirs"}); got != (pair{2, "theirs"}) {
		t.Errorf("it is %v", got)
	}
	if got := outcomes("merged"); got != (finding.Tally{Tolerated: 1}) {
		t.Errorf("recorded %+v", got)
	}
}

// TestStraightMapsAreReplaced: careless code keeps the old map, and what it does to it
// is recognised.
func TestStraightMapsAreReplaced(t *testing.T) {
	l := &tolerate.Label{Name: "mapped"}
	m := map[string]int{"a": 1}
	section := func(interfere func(map[string]int)) {
		v, n := m, len(m)
		b := v
		_, v = tolerate.CloneMap(v)
		v["b"]++
		interfere(m)
		tolerate.PutMap(&m, v, b, n, l)
	}
	section(func(m map[string]int) {
		if len(m) != 1 {
			t.Errorf("careless code sees what a section has not published: %v", m)
		}
	})
	if len(m) != 2 || outcomes("mapped") != (finding.Tally{}) {
		t.Errorf("it is %v, recorded %+v", m, outcomes("mapped"))
	}
	section(func(m map[string]int) { m["theirs"] = 1 })
	if m["b"] != 2 || outcomes("mapped") != (finding.Tally{Refused: 1}) {
		t.Errorf("it is %v, recorded %+v", m, outcomes("mapped"))
	}
}

func TestCheckOnlyLooks(t *testing.T) {
	n := 1
	l := &tolerate.Label{Name: "checked", Suspects: "nowhere"}
	tolerate.Check(&n, 1, l)
	if got := outcomes("checked"); got != (finding.Tally{}) {
		t.Errorf("nobody interfered, and there are findings: %+v", got)
	}
	n = 2
	tolerate.Check(&n, 1, l)
	if got := outcomes("checked"); got != (finding.Tally{Surrendered: 1}) || n != 2 {
		t.Errorf("recorded %+v, it is %d", got, n)
	}
}

func TestStraightSectionsDoNotAllocate(t *testing.T) {
	l := &tolerate.Label{Name: "lean"}
	x := struct {
		n int
		s string
	}{}
	if n := testing.AllocsPerRun(1000, func() {
		p, q := &x.n, &x.s
		v, w := *p, tolerate.Take(q)
		b, c := v, w
		v++
		w = "new"
		tolerate.PutScalar(p, v, b, l)
		tolerate.PutWide(q, &w, &c, l)
	}); n != 0 {
		t.Errorf("a section allocates %v times", n)
	}
}

// TestFunctionResolvesStraightSections: a function of the program's is asked about what both
// have changed, and about nothing else.
func TestFunctionResolvesStraightSections(t *testing.T) {
	type pair struct{ a, b int }
	asked := 0
	l := &tolerate.Label{Name: "resolved pair", By: tolerate.ResolveBy(func(theirs, ours, before pair) pair {
		asked++
		return pair{theirs.a + ours.a, before.b}
	})}
	p := pair{1, 5}
	if got := straight(wide, l, &p, &pair{2, 6}, &pair{3, 7}); got != (pair{5, 5}) || asked != 1 {
		t.Errorf("got %v after asking %d times, want {5 5} after one", got, asked)
	}
	p = pair{1, 5}
	if got := straight(wide, l, &p, &pair{1, 5}, &pair{3, 7}); got != (pair{3, 7}) || asked != 1 {
		t.Errorf("a section that only reads leaves %v after asking %d times", got, asked)
	}
}

// TestStraightSectionsRefuseWithoutAPanic: the section of a program that was rewritten holds its lock where it
// ends, and ends as it would have: what it wrote stays, and the finding says so, by the name of the lock.
func TestStraightSectionsRefuseWithoutAPanic(t *testing.T) {
	l := &tolerate.Label{Name: "T.refused", Lock: "T.lock of refused", Merge: tolerate.Refusing}
	n := 100
	if got := straight(tolerate.PutScalar, l, &n, new(150), new(300)); got != 150 {
		t.Errorf("it is %d, want what the section wrote, 150", got)
	}
	if got, want := outcomes(l.Lock), (finding.Tally{Refused: 1}); got != want {
		t.Errorf("recorded %+v of the lock, want %+v", got, want)
	}
	if f := onlyFinding(t, l.Lock); f.Accesses[0].Target != l.Name {
		t.Errorf("the finding is about %s, want %s", f.Accesses[0].Target, l.Name)
	}
}

// TestStraightMapsAreUnited: what careless code did to the entries of a map is kept beside what
// the section did to its copy.
func TestStraightMapsAreUnited(t *testing.T) {
	m := map[string][]int{"kept": {1}, "dropped": {2}}
	l := &tolerate.Label{Name: "united map", Merge: "union"}
	before := m
	count, own := tolerate.CloneMap(m)
	_, entries := tolerate.CloneMap(m)
	own["ours"] = []int{3}
	delete(own, "dropped")
	tolerate.PutUnion(&m, own, before, entries, count, l)
	if len(m) != 2 || m["ours"] == nil || m["kept"] == nil {
		t.Errorf("the section's change alone leaves %v", m)
	}

	set := map[string]any{"kept": 1, "dropped": 2, "list": []int{1}}
	l = &tolerate.Label{Name: "united set", Merge: "union"}
	was := set
	count, ours := tolerate.CloneMap(set)
	_, began := tolerate.CloneMap(set)
	ours["ours"] = 3
	delete(ours, "dropped")
	set["theirs"] = 4 // careless
	tolerate.PutUnion(&set, ours, was, began, count, l)
	if want := map[string]any{"kept": 1, "ours": 3, "theirs": 4, "list": []int{1}}; !reflect.DeepEqual(set, want) {
		t.Errorf("got %v, want %v", set, want)
	}
	if got := outcomes(l.Name); got.Resolved != 1 {
		t.Errorf("recorded %+v, want one race that is resolved", got)
	}
	tolerate.PutUnion(&set, set, set, set, -1, l) // the section did nothing
	if len(set) != 4 || outcomes(l.Name).Resolved != 1 {
		t.Errorf("a section that changes nothing leaves %v", set)
	}
}
