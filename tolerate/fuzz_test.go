package tolerate_test

import (
	"maps"
	"reflect"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// FuzzRunTime gives the oracle and the run time the same two programs and the same
// schedule, of any length.
func FuzzRunTime(f *testing.F) {
	f.Add([]byte("12"), []byte("rwi"), []byte("rwi"), true)
	f.Add([]byte("11222111"), []byte("rwrrw"), []byte("rwi"), false)
	f.Fuzz(func(t *testing.T, order, one, two []byte, blind bool) {
		const longest = 12 // symbols grow with what the threads have seen
		e := execution{t1: anyProgram(one, longest), t2: anyProgram(two, longest), live: true}
		left := map[step]int{1: len(e.t1), 2: len(e.t2)}
		for i := 0; left[1]+left[2] > 0; i++ {
			s := step(1)
			if i < len(order) && order[i]%2 == 0 {
				s = 2
			}
			if left[s] == 0 {
				s = 3 - s
			}
			left[s]--
			e.schedule = append(e.schedule, s)
		}
		blind = blind && len(e.t1) > 0 && e.t1[0] != 'r'
		resolve := resolution(closedForm)
		if blind {
			resolve = func(v, own, before string) string {
				if own == before {
					return v
				}
				return own
			}
		}
		want, v, own := e.run(resolve)
		classes := tolerate.Classify(own != initial, v != initial, blind)
		if len(e.t1) == 0 { // a section that does not use the variable
			classes = 0
		}

		shared := new(int64)
		d := &driver[int64]{blind: blind}
		d.v = tolerate.Guard(&d.mu, shared)
		var got state
		reported := classesSince(func() { got = drive(e, numbers[int64](), shared, d) })
		if got != want {
			t.Errorf("%s and %s in order %v: got %+v, want %+v", e.t1, e.t2, e.schedule, got, want)
		}
		if (classes != 0) != (reported[classes] == 1) {
			t.Errorf("%s and %s in order %v: reported %v, want %v", e.t1, e.t2, e.schedule, reported, classes)
		}
	})
}

func anyProgram(text []byte, longest int) program {
	p := make([]byte, 0, longest)
	for _, b := range text[:min(len(text), longest)] {
		p = append(p, "rwi"[b%3])
	}
	return program(p)
}

func FuzzNumberResolvers(f *testing.F) {
	f.Add(int64(101), int64(11), int64(1))
	f.Add(int64(-1), int64(1), int64(1)<<62)
	f.Fuzz(func(t *testing.T, theirs, ours, before int64) {
		d := tolerate.Delta(theirs, ours, before)
		if d-before != (theirs-before)+(ours-before) || d != tolerate.Delta(ours, theirs, before) {
			t.Errorf("Delta(%d, %d, %d) is %d: a change is missing, or the order counts", theirs, ours, before, d)
		}
		hi, lo := tolerate.Max(theirs, ours, before), tolerate.Min(theirs, ours, before)
		if hi < theirs || hi < ours || lo > theirs || lo > ours || hi+lo != theirs+ours {
			t.Errorf("Max and Min of %d and %d are %d and %d", theirs, ours, hi, lo)
		}
	})
}

func FuzzContainerResolvers(f *testing.F) {
	f.Add([]byte("ab"), []byte("cd"), []byte("a"), []byte("x"), []byte("y"))
	f.Fuzz(func(t *testing.T, start, theyAdd, theyRemove, weAdd, weRemove []byte) {
		before := setOf(start)
		theirs, ours := change(before, theyAdd, theyRemove), change(before, weAdd, weRemove)
		copies := []map[byte]bool{maps.Clone(theirs), maps.Clone(ours), maps.Clone(before)}
		got := tolerate.Union(theirs, ours, before)
		for k := range 256 {
			b := byte(k)
			want := theirs[b] && ours[b] || theirs[b] && !before[b] || ours[b] && !before[b]
			if got[b] != want {
				t.Errorf("Union(%v, %v, %v): %d in it is %v, want %v", theirs, ours, before, b, got[b], want)
			}
		}
		if !reflect.DeepEqual(copies, []map[byte]bool{theirs, ours, before}) {
			t.Error("Union has changed what it was given")
		}

		base := append(make([]byte, 0, len(start)+len(theyAdd)+5), start...)
		mine := append(base[:len(base):len(base)], weAdd...)
		yours := append(base, theyAdd...)
		want := string(start) + string(theyAdd) + string(weAdd)
		if got := string(tolerate.Append(yours, mine, base)); got != want {
			t.Errorf("Append gives %q, want %q", got, want)
		}
	})
}

func setOf(members []byte) map[byte]bool {
	set := map[byte]bool{}
	for _, b := range members {
		set[b] = true
	}
	return set
}

func change(set map[byte]bool, add, remove []byte) map[byte]bool {
	set = maps.Clone(set)
	for _, b := range remove {
		delete(set, b)
	}
	for _, b := range add {
		set[b] = true
	}
	return set
}
