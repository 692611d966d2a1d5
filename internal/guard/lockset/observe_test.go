package lockset

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
)

// TestObservations: each line that accesses data is observed with what is held there. A line
// of the archives in testdata/observations that ends in "//n: mu | nothing" accesses n, with
// mu held on one path or in one context and with nothing held in another. A line that ends in
// "//early" has no site: what it accesses is being initialised. "//atomic n" says that n is
// accessed with package sync/atomic. Other lines are not compared.
func TestObservations(t *testing.T) {
	for _, row := range lockstest.Load(t, "testdata/observations") {
		t.Run(row.Name, func(t *testing.T) {
			a := analyse(row)
			got := observations(a)
			var want, have []string
			for at, text := range marks(t, row) {
				name, atomic := strings.CutPrefix(text, "atomic ")
				switch {
				case atomic:
					if !slices.ContainsFunc(a.Variables, func(v *Variable) bool { return v.Object.Name() == name && v.Atomic }) {
						t.Errorf("%s: %s is not atomic", at, name)
					}
				case text == "early":
					if len(got[at]) > 0 {
						t.Errorf("%s: initialisation is observed: %v", at, got[at])
					}
				default:
					name, _, _ = strings.Cut(text, ": ")
					want = append(want, at+" "+text)
					have = append(have, at+" "+name+": "+got[at][name])
				}
			}
			slices.Sort(want)
			slices.Sort(have)
			if d := cmp.Diff(want, have); d != "" {
				t.Errorf("observations (-want +got):\n%s", d)
			}
		})
	}
}

var mark = regexp.MustCompile(`//(early|atomic \w+|\w+: .*)$`)

// marks returns what the lines of a row end in, by file and line.
func marks(t *testing.T, row *lockstest.Row) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, p := range row.Packages {
		for _, file := range p.Syntax {
			name := p.Fset.File(file.FileStart).Name()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if m := mark.FindStringSubmatch(line); m != nil {
					all[fmt.Sprintf("%s:%d", filepath.Base(name), i+1)] = m[1]
				}
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no line is marked")
	}
	return all
}

// observations renders what was observed, by file and line, and by variable.
func observations(a *Analysis) map[string]map[string]string {
	all := make(map[string]map[string]string)
	for _, v := range a.Variables {
		for _, s := range v.Sites {
			seen := make(map[string]bool)
			for _, o := range s.Observations {
				seen[renderHeld(o)] = true
			}
			at := fmt.Sprintf("%s:%d", filepath.Base(s.At.Filename), s.At.Line)
			if all[at] == nil {
				all[at] = make(map[string]string)
			}
			all[at][v.Object.Name()] = strings.Join(slices.Sorted(maps.Keys(seen)), " | ")
		}
	}
	return all
}

func renderHeld(o Observation) string {
	if o.Unnamed {
		return "cannot tell"
	}
	var set locks.Set
	for _, r := range o.Held {
		set = set.With(locks.Held{Lock: r.Lock, Mode: r.Mode, Maybe: r.Maybe})
	}
	return set.String()
}
