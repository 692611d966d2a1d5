package source

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestChangesAtOnePlaceHaveAFixedOrder(t *testing.T) {
	b := NewBuffer([]byte("xy"))
	b.Replace(1, 2, "Y")
	b.InsertBefore(1, "3")
	b.InsertAfter(1, "1")
	b.InsertBefore(1, "4")
	b.InsertAfter(1, "2")
	b.Append("end")
	text, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(text), "x1234Y\nend\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOverlappingChangesAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Buffer){
		"two replacements":             func(b *Buffer) { b.Replace(1, 4, "a"); b.Replace(3, 5, "b") },
		"the same replacement twice":   func(b *Buffer) { b.Replace(1, 4, "a"); b.Replace(1, 4, "a") },
		"a replacement within another": func(b *Buffer) { b.Replace(2, 3, "a"); b.Replace(1, 4, "b") },
		"an insertion into one":        func(b *Buffer) { b.InsertBefore(2, "a"); b.Delete(1, 4) },
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBuffer([]byte("0123456"))
			change(b)
			_, err := b.Bytes()
			var overlap *OverlapError
			if !errors.As(err, &overlap) {
				t.Errorf("got %v, want an OverlapError", err)
			}
		})
	}
}

func TestChangesThatTouchAreMade(t *testing.T) {
	b := NewBuffer([]byte("0123456"))
	b.Replace(3, 5, "b")
	b.Replace(1, 3, "a")
	b.InsertAfter(3, "+")
	b.InsertAfter(5, "-")
	if text, err := b.Bytes(); err != nil || string(text) != "0a+b-56" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestRangeHasTheChangesInIt(t *testing.T) {
	b := NewBuffer([]byte("0123456"))
	b.Delete(0, 2)
	b.InsertBefore(2, "<")
	b.Replace(3, 4, "three")
	b.InsertAfter(5, ">")
	b.Replace(5, 6, "five")
	if text, err := b.Range(2, 5); err != nil || text != "<2three4>" {
		t.Errorf("got %q, %v", text, err)
	}
	var overlap *OverlapError
	if _, err := b.Range(1, 5); !errors.As(err, &overlap) {
		t.Errorf("half a change: got %v, want an OverlapError", err)
	}
}

func TestReplacedKnowsWhatIsReplacedAsAWhole(t *testing.T) {
	b := NewBuffer([]byte("0123456"))
	b.Replace(1, 4, "x")
	b.InsertBefore(5, "y")
	for r, want := range map[[2]int]bool{{1, 4}: true, {2, 3}: true, {0, 2}: false, {3, 5}: false, {2, 2}: true, {1, 1}: false, {4, 4}: false, {5, 5}: false} {
		if got := b.Replaced(r[0], r[1]); got != want {
			t.Errorf("%v: %t, want %t", r, got, want)
		}
	}
}

func TestBufferThatKeepsLines(t *testing.T) {
	b := NewBuffer([]byte("a\nb\nc\n"))
	b.KeepLines = true
	b.Replace(0, 3, "x")
	b.InsertAfter(5, ";")
	b.Append("tail\ntail")
	if text, err := b.Bytes(); err != nil || string(text) != "x\n\nc;\n\ntail\ntail\n" {
		t.Errorf("got %q, %v", text, err)
	}
	for name, change := range map[string]func(*Buffer){
		"an insertion":  func(b *Buffer) { b.InsertBefore(1, "\n") },
		"a replacement": func(b *Buffer) { b.Replace(0, 2, "\n\n") },
	} {
		b := NewBuffer([]byte("a\nb\n"))
		b.KeepLines = true
		change(b)
		var lines *LineError
		if _, err := b.Bytes(); !errors.As(err, &lines) {
			t.Errorf("%s with a line break: got %v, want a LineError", name, err)
		}
	}
}

// naive makes changes one byte of the original at a time.
func naive(text []byte, changes []change, appended []string) (string, bool) {
	for i, x := range changes {
		for _, y := range changes[i+1:] {
			x, y := x, y
			if y.from < x.from || y.from == x.from && y.from == y.to {
				x, y = y, x
			}
			if y.from < x.to {
				return "", false
			}
		}
	}
	var out bytes.Buffer
	for at := 0; at <= len(text); at++ {
		for _, s := range []side{ending, beginning} {
			for _, c := range changes {
				if c.from == at && c.to == at && c.side == s {
					out.WriteString(c.text)
				}
			}
		}
		next := at
		for _, c := range changes {
			if c.from == at && c.to > at {
				out.WriteString(c.text)
				next = c.to - 1
			}
		}
		if next == at && at < len(text) && !slices.ContainsFunc(changes, func(c change) bool { return c.from == at && c.to == at+1 }) {
			out.WriteByte(text[at])
		}
		at = next
	}
	for _, a := range appended {
		out.WriteString("\n" + a + "\n")
	}
	return out.String(), true
}

// FuzzBuffer holds the buffer against a naive one, and a buffer that keeps lines against the
// lines of the original.
func FuzzBuffer(f *testing.F) {
	for seed := range uint64(64) {
		f.Add("ab\ncd\n\nef", seed)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 1000 {
			text = text[:1000]
		}
		random := rand.New(rand.NewPCG(seed, 0))
		b := NewBuffer([]byte(text))
		for range random.IntN(6) {
			from := random.IntN(len(text) + 1)
			to := from + random.IntN(min(4, len(text)+1-from))
			added := []string{"", "x", "y\n", "zz"}[random.IntN(4)]
			switch {
			case from < to:
				b.Replace(from, to, added)
			case random.IntN(2) == 0:
				b.InsertAfter(from, added)
			default:
				b.InsertBefore(from, added)
			}
		}
		if random.IntN(4) == 0 {
			b.Append("tail")
		}
		want, ok := naive([]byte(text), slices.Clone(b.changes), b.appended)
		got, err := b.Bytes()
		if ok != (err == nil) || string(got) != want {
			t.Fatalf("%q with %v: got %q, %v, want %q, %t", text, b.changes, got, err, want, ok)
		}
		b.KeepLines, b.appended = true, nil
		if got, err := b.Bytes(); err == nil && strings.Count(string(got), "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q with %v has other lines: %q", text, b.changes, got)
		}
	})
}

func TestSupersededTextKeepsTheChangesInsideItAndLosesNone(t *testing.T) {
	b := NewBuffer([]byte("lock; return get(k) + 1"))
	b.Replace(13, 16, "held")      // get
	b.InsertBefore(6, "// then\n") // at the start of the return, which stays
	inside, err := b.Inside(6, 23)
	if err != nil || inside != "return held(k) + 1" {
		t.Fatalf("%q, %v", inside, err)
	}
	b.Supersede(6, 23, "unlock; "+inside)
	got, err := b.Bytes()
	if want := "lock; // then\nunlock; return held(k) + 1"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
