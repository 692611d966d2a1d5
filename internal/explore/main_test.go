package explore

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
)

// The programs in testdata are modules of their own, which the workspace of this
// repository does not know.
func TestMain(m *testing.M) {
	os.Setenv("GOWORK", "off")
	code := m.Run()
	for _, b := range builds.done {
		if err := b.Close(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// builds are those of the directories in testdata, which tests share: to link one takes longer
// than most of the tests that use it.
var builds struct {
	mu   sync.Mutex
	done map[string]*Build
}

// build returns the instrumented tests of a directory that does not change.
func build(t *testing.T, dir string) *Program {
	t.Helper()
	builds.mu.Lock()
	defer builds.mu.Unlock()
	b := builds.done[dir]
	if b == nil {
		var err error
		if b, err = New(context.Background(), instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true}); err != nil {
			t.Fatal(err)
		}
		if builds.done == nil {
			builds.done = map[string]*Build{}
		}
		builds.done[dir] = b
	}
	return b.Programs[0]
}

// buildAnew instruments the tests of a directory as it is now.
func buildAnew(t *testing.T, dir string) *Program {
	t.Helper()
	b, err := New(t.Context(), instrument.Config{Dir: dir, Patterns: []string{"."}, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.Programs[0]
}

// withArguments returns the program as New would with the arguments. It is of a build with this
// program alone.
func withArguments(p *Program, args ...string) *Program {
	b := *p.build
	b.args = args
	with := &Program{build: &b, Binary: p.Binary}
	b.Programs = []*Program{with}
	return with
}
