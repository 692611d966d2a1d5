package judge_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// module writes programs as a main package that runs each of them many times and prints what
// comes out.
func module(t *testing.T, programs []randprog.Program, run []string) string {
	t.Helper()
	dir := t.TempDir()
	var table strings.Builder
	for _, name := range run {
		fmt.Fprintf(&table, "\tmany(%q, %s)\n", name, name)
	}
	for name, text := range map[string]string{
		"go.mod":      "module random\n\ngo 1.26\n",
		"programs.go": randprog.File("main", programs),
		"main.go": `package main

func main() {
` + table.String() + `}

func many(name string, f func() string) {
	for range 200 {
		println(name + ": " + f())
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPlainRunsEndInOneOfTheOutcomes: whatever the Go runtime makes of a program is among
// what the judge says it can come to.
func TestPlainRunsEndInOneOfTheOutcomes(t *testing.T) {
	const count = 150
	var programs []randprog.Program
	for i := range count {
		programs = append(programs, randprog.New(fmt.Sprintf("P%d", i), uint64(i), randprog.Options{RaceFree: i%2 == 0}))
	}
	p, err := judge.Load(module(t, programs, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string][]string{}
	var run []string
	for i, program := range programs {
		v, err := p.Explore(program.Name, judge.Options{States: 20_000})
		if err != nil {
			t.Errorf("%v\n%s", err, program.Source)
			continue
		}
		if i%2 == 0 && len(v.Races) > 0 {
			t.Errorf("a program that is free of races by construction has %v:\n%s", v.Races, program.Source)
		}
		if v.Complete && !slices.ContainsFunc(v.Outcomes, endsTheProcess) {
			for _, o := range v.Outcomes {
				outcomes[program.Name] = append(outcomes[program.Name], o.Text)
			}
			run = append(run, program.Name)
		}
	}
	if len(run) < count/2 {
		t.Fatalf("only %d of %d programs can be run to their end", len(run), count)
	}
	cmd := exec.CommandContext(context.Background(), "go", "run", ".")
	cmd.Dir = module(t, programs, run)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		name, outcome, _ := strings.Cut(s.Text(), ": ")
		if !slices.Contains(outcomes[name], outcome) {
			i := slices.IndexFunc(programs, func(p randprog.Program) bool { return p.Name == name })
			t.Fatalf("%q is not among %q of\n%s", outcome, outcomes[name], programs[i].Source)
		}
	}
}

// endsTheProcess reports whether a plain run with such an outcome would end more than
// itself.
func endsTheProcess(o judge.Outcome) bool { return o.Ending != judge.Returned || o.Leak }
