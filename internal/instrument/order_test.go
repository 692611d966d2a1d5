package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// TestExpressionsAreEvaluatedInTheOrderOfTheCompiler runs random programs of one goroutine,
// whose expressions change what they load, as they are and with hooks.
func TestExpressionsAreEvaluatedInTheOrderOfTheCompiler(t *testing.T) {
	const count = 300
	var programs []randprog.Program
	var table strings.Builder
	for i := range count {
		p := randprog.New(fmt.Sprintf("P%d", i), uint64(i), randprog.Options{Alone: true, OpenOrder: true, Statements: 6})
		programs = append(programs, p)
		fmt.Fprintf(&table, "\t{%q, %s},\n", p.Name, p.Name)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module random\n\ngo 1.26\n",
		"programs.go": randprog.File("random", programs),
		"programs_test.go": `package random

import (
	"fmt"
	"testing"
)

var programs = []struct {
	name string
	f    func() string
}{
` + table.String() + `}

func TestAll(t *testing.T) {
	for _, p := range programs {
		func() {
			defer func() {
				if r := recover(); r != nil {
					fmt.Println(p.name, "panic", r)
				}
			}()
			fmt.Println(p.name, p.f())
		}()
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := build(t, Config{Dir: dir, Tests: true})
	want := strings.Split(run(t, dir, native(t, dir)), "\n")
	got := strings.Split(run(t, dir, p.Binaries[0].Path), "\n")
	if len(want) != len(got) {
		t.Fatalf("%d lines, with hooks %d", len(want), len(got))
	}
	different := 0
	for i := range programs {
		if want[i] != got[i] {
			if different++; different <= 3 {
				t.Errorf("%q, with hooks %q:\n%s", want[i], got[i], programs[i].Source)
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of %d programs differ", different, count)
	}
}
