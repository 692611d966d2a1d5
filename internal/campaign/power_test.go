package campaign

import (
	"errors"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// copyDir copies what is in a directory, which may change meanwhile.
func copyDir(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o666)
	})
}

// damage takes away from some files of a store what was written to them last, leaves zeros in its place,
// as file systems do, or changes bits, as bad memory does.
func damage(r *rand.Rand, store, how string) (lost []string, err error) {
	err = filepath.WalkDir(store, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || r.Intn(2) == 0 {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil || len(text) == 0 {
			return err
		}
		tail := 1 + r.Intn(min(len(text), 400))
		lost = append(lost, filepath.Base(name))
		switch how {
		case "cut":
			text = text[:len(text)-tail]
		case "zeros":
			clear(text[len(text)-tail:])
		case "bits":
			for range tail {
				text[r.Intn(len(text))] ^= 1 << r.Intn(8)
			}
		}
		return os.WriteFile(name, text, 0o666)
	})
	return lost, err
}

// TestALossOfPowerCostsWorkAndNothingElse: the state is what was on the disk at some moment of the
// work, with some files damaged. The next campaign does what is missing,
// finds every bug, and counts every schedule once.
func TestALossOfPowerCostsWorkAndNothingElse(t *testing.T) {
	t.Parallel()
	for round := range *powerRounds {
		r := rand.New(rand.NewSource(*faultSeed + int64(round)))
		s := newSession(t)
		after := filepath.Join(t.TempDir(), "state")
		var mu sync.Mutex
		leases, moment, lost := 0, 1+r.Intn(40), false
		s.done = func(*Lease) {
			mu.Lock()
			defer mu.Unlock()
			if leases++; leases == moment {
				if err := copyDir(s.dir, after); err != nil {
					t.Error(err)
				}
				lost = true
			}
		}
		s.stop = func(Event) bool {
			mu.Lock()
			defer mu.Unlock()
			return lost
		}
		s.run(t)
		how := []string{"cut", "zeros", "bits"}[round%3]
		files, err := damage(r, filepath.Join(after, "store"), how)
		if err != nil {
			t.Fatal(err)
		}
		s.dir, s.done, s.stop = after, nil, nil
		out := s.run(t)
		if want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}; !slices.Equal(found(t, after), want) {
			t.Errorf("round %d, at lease %d with %s in %q: found %q, want %q; told: %s", round, moment, how, files, found(t, after), want, strings.Join(out.notices, "\n"))
		}
		checkLedgers(t, after)
	}
}
