package marks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTestsThatMayBeMarkedAreSeenInTheirSource(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": `package a
import ("testing"; "github.com/cofferdam-go/cofferdam/explore")
func TestDirect(t *testing.T) { explore.Test(t, nil) }
func TestByHelper(t *testing.T) { t.Run("x", func(t *testing.T) { helper(t) }) }
func helper(t *testing.T) { deeper(t) }
func TestOther(t *testing.T) { other.Test(t, nil) }
`,
		"b_test.go": `package a
import ("testing"; x "github.com/cofferdam-go/cofferdam/explore")
func deeper(t *testing.T) { x.Test(t, nil) }
func TestPlain(t *testing.T) {}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := (&goPackage{Dir: dir, TestGoFiles: []string{"a_test.go"}, XTestGoFiles: []string{"b_test.go"}}).candidates()
	if diff := cmp.Diff([]string{"TestByHelper", "TestDirect"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestSchedulesAreKeptOnce(t *testing.T) {
	test := &Test{Dir: t.TempDir(), Name: "TestA"}
	for _, s := range []Seed{{"2.8+3", "a race"}, {"1.1", "a deadlock"}, {"2.8+3", "told otherwise"}} {
		if _, err := test.Keep(s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := test.Seeds()
	if diff := cmp.Diff([]Seed{{"2.8+3", "a race"}, {"1.1", "a deadlock"}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestATestThatMarksSeveralSubtestsIsOne(t *testing.T) {
	got, err := (&goPackage{ImportPath: "p", Dir: "d"}).read([]byte(`{"test":"TestA/x","budget":5}` + "\n" + `{"test":"TestA/y"}` + "\n" + `{"test":"TestB"}` + "\n"))
	want := []Test{{Package: "p", Dir: "d", Name: "TestA", Budget: 5}, {Package: "p", Dir: "d", Name: "TestB"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
