package repair_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// TestWhatFailsAloneIsToldApart: a test that is wrong by itself, and one that is wrong beside other
// goroutines, which are started by the library.
func TestWhatFailsAloneIsToldApart(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), []byte("module wrong\n\ngo 1.26\n"))
	write(t, filepath.Join(dir, "alone", "a_test.go"), []byte(`package alone

import "testing"

func TestIt(t *testing.T) {
	if n := len("two"); n != 2 {
		t.Errorf("%d letters", n)
	}
}
`))
	write(t, filepath.Join(dir, "beside", "a_test.go"), []byte(`package beside

import (
	"sync"
	"testing"
)

func TestIt(t *testing.T) {
	var sums [2]int
	var wg sync.WaitGroup
	for i := range sums {
		wg.Go(func() { sums[i] = i })
	}
	wg.Wait()
	if n := sums[0] + sums[1]; n != 2 {
		t.Errorf("the sum is %d", n)
	}
}
`))
	build, err := explore.New(t.Context(), instrument.Config{Dir: dir, Patterns: []string{"wrong/alone", "wrong/beside"}, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	defer build.Close()
	for _, p := range build.Programs {
		_, told := one(t, dir, p, "refused")
		if alone := strings.Contains(told, "although nothing runs beside it"); alone != (p.Package == "wrong/alone") {
			t.Errorf("%s:\n%s", p.Package, told)
		}
	}
}
