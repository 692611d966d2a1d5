package httpclient

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

var variants = []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate}

func newJar(v measure.Variant) jar {
	if v == measure.Heap {
		return newHeapJar()
	}
	return newGuardedJar(v)
}

// A modelJar is what a jar is meant to be: the cookies of each path, in the order
// in which they came.
type modelJar map[string][]cookie

func (m modelJar) set(path string, c cookie) {
	for i, old := range m[path] {
		if old.name == c.name {
			m[path][i] = c
			return
		}
	}
	m[path] = append(m[path], c)
}

func (m modelJar) remove(path string, name text) {
	m[path] = slices.DeleteFunc(m[path], func(c cookie) bool { return c.name == name })
	if len(m[path]) == 0 {
		delete(m, path)
	}
}

func (m modelJar) match(path string) []cookie {
	var all []cookie
	for i := range path {
		if path[i] == '/' {
			all = append(all, m[path[:i]]...)
		}
	}
	return append(all, m[path]...)
}

func mustText(t *testing.T, s string) text {
	t.Helper()
	x, err := newText(s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// keyOf is the key of a domain with a path behind it.
func keyOf(t *testing.T, s string) key {
	t.Helper()
	domain, path, _ := strings.Cut(s, "/")
	k, err := newKey(domain, path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestJarIsTheModel(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			j, m := newJar(v), modelJar{}
			defer j.free()
			random := rand.New(rand.NewPCG(4, 4))
			for step := range 20_000 {
				path := fmt.Sprintf("domain%d", random.IntN(3))
				for range random.IntN(4) {
					path += fmt.Sprintf("/p%d", random.IntN(3))
				}
				name := mustText(t, fmt.Sprintf("name%d", random.IntN(3)))
				switch random.IntN(4) {
				case 0:
					c := cookie{name, mustText(t, fmt.Sprint(step))}
					j.set(keyOf(t, path), c)
					m.set(path, c)
				case 1, 2:
					j.remove(keyOf(t, path), name)
					m.remove(path, name)
				case 3:
					if got, want := j.match(keyOf(t, path), nil), m.match(path); !slices.Equal(got, want) {
						t.Fatalf("step %d: the cookies of %s are %v, want %v", step, path, got, want)
					}
				}
			}
			for path, cookies := range m {
				for _, c := range cookies {
					j.remove(keyOf(t, path), c.name)
				}
			}
			if !isEmpty(j) {
				t.Error("nodes are left in a jar without cookies")
			}
		})
	}
}

func isEmpty(j jar) bool {
	switch j := j.(type) {
	case *heapJar:
		return j.root.below == nil
	case *guardedJar:
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.view().below.IsNil()
	default:
		panic(fmt.Sprintf("unknown jar %T", j))
	}
}

func TestGoroutinesShareAJar(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			j := newJar(v)
			defer j.free()
			var all sync.WaitGroup
			for g := range 4 {
				c := cookie{mustText(t, "who"), mustText(t, fmt.Sprint(g))}
				var keys []key
				for i := range 5 {
					keys = append(keys, keyOf(t, fmt.Sprintf("same/way/%d/%d", g, i)))
				}
				all.Go(func() {
					for i := range 2000 {
						k := keys[i%len(keys)]
						j.set(k, c)
						if got := j.match(k, nil); len(got) != 1 || got[0] != c {
							t.Errorf("goroutine %d has %v", g, got)
							return
						}
						j.remove(k, c.name)
					}
				})
			}
			all.Wait()
			if !isEmpty(j) {
				t.Error("nodes are left in a jar without cookies")
			}
		})
	}
}

func TestTextRefusesWhatDoesNotFit(t *testing.T) {
	long := strings.Repeat("x", maxText)
	if got := mustText(t, long).String(); got != long {
		t.Errorf("%q became %q", long, got)
	}
	if _, err := newText(long + "x"); err == nil {
		t.Error("a longer text fits")
	}
	if _, err := newKey("domain", "/a/"+long+"x"); err == nil {
		t.Error("a key of a longer text fits")
	}
}
