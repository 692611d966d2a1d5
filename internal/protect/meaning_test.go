package protect

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
)

// TestCorrectProgramsMeanTheSame runs programs that were changed once, or might be, with and
// without protection, and show what they do. The files of one begin with its name.
func TestCorrectProgramsMeanTheSame(t *testing.T) {
	names, err := filepath.Glob("testdata/meaning/*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	dir := t.TempDir()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, programOf(name))
		if err := os.MkdirAll(to, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/p\n\ngo 1.26\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	compareModes(t, names)
	if err := os.Mkdir("beside", 0o777); err != nil { // the compiler names what is written there from here
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "beside"))
	b, err := Prepare(Config{Patterns: []string{"./names"}, Mode: Tolerate})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if i := slices.IndexFunc(b.Sections, func(s plan.Section) bool { return s.At.Line == 29 }); i < 0 || b.Sections[i].Why != doesNotBuildRewritten {
		t.Errorf("it is not told that a function does not build:\n%s", b.GapList())
	}
}

// A function that does not build is left alone wherever the rewritten texts lie: the go command names a file by the way from where it
// runs, if that is shorter than from the root.
func TestAFunctionThatDoesNotBuildIsLeftAloneWhereverTheTextsAre(t *testing.T) {
	text, err := os.ReadFile("testdata/meaning/names.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, sub := range []string{"module", "texts"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "texts"))
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "names.go": string(text)} {
		if err := os.WriteFile(filepath.Join(dir, "module", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Prepare(Config{Dir: filepath.Join(dir, "module"), Patterns: []string{"."}, Mode: Tolerate})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if !slices.ContainsFunc(b.Sections, func(s plan.Section) bool { return s.Why == doesNotBuildRewritten }) {
		t.Errorf("no function is left alone:\n%s", b.GapList())
	}
}

// programOf returns the name of the program that a file belongs to.
func programOf(name string) string {
	program, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".go"), "_")
	return program
}

// compareModes builds the programs in the directories of a module plainly and in each mode,
// and compares what they print.
func compareModes(t *testing.T, names []string) {
	t.Helper()
	run(t, "go", "build", "-ldflags=-w", "-o", "plain/", "./...") // without what only debuggers read, which takes a third of linking
	loaded, err := Load(Config{Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range Modes {
		for _, maps := range []bool{false, true} {
			if maps && mode != Tolerate {
				continue
			}
			b, err := loaded.Prepare(mode, maps)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			sections := 0
			for _, s := range b.Sections {
				if len(s.Protected)+len(s.Isolated) > 0 {
					sections++
				}
			}
			if mode != Isolate && sections < 5*len(names) {
				t.Errorf("%s: only %d sections are protected:\n%s", mode, sections, b.Plan)
			}
			run(t, "go", append(append([]string{"build", "-ldflags=-w", "-o", string(mode) + "/"}, b.Flags...), "./...")...)
			for _, name := range names {
				program := programOf(name)
				want, got := run(t, "plain/"+program), run(t, string(mode)+"/"+program)
				if got != want {
					t.Errorf("%s, %s (maps %t):\n%s", program, mode, maps, firstDifference(want, got))
				}
			}
		}
	}
}

// firstDifference shows the first line that differs.
func firstDifference(want, got string) string {
	plain, protected := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range plain {
		if i >= len(protected) || plain[i] != protected[i] {
			return "plain:     " + plain[i] + "\nprotected: " + strings.Join(protected[min(i, len(protected)-1):min(i+1, len(protected))], "")
		}
	}
	return "there is more: " + strings.Join(protected[len(plain):], "\n")
}

// run returns the standard output of a command, which must find nothing: all programs are correct.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	if _, found, ok := strings.Cut("\n"+stderr.String(), "\nviolation: "); ok {
		t.Errorf("%s finds what is not so: %s", name, found)
	}
	return string(out)
}
