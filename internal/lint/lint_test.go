package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/cofferdam-go/cofferdam/"

// imports is the import graph: what each package of the module may import of the
// module. It only points downwards, and a package that is not here does not pass.
// A trailing /... stands for a folder.
var imports = map[string][]string{
	"internal/finding":      {},
	"internal/publish":      {"internal/finding"},
	"internal/page":         {"internal/goroutine"},
	"internal/await":        {},
	"internal/lint":         {},
	"internal/check":        {"internal/gotool"},
	"isolate":               {"internal/finding", "internal/page"},
	"monitor":               {"internal/finding", "isolate", "tolerate"},
	"stm":                   {"internal/interrupt", "internal/page"},
	"internal/interrupt":    {},
	"stm/compiled":          {"stm"},
	"stm/stmvar":            {"stm"},
	"stm/stmcheck":          {"internal/locks"},
	"cmd/stmcheck":          {"stm/stmcheck"},
	".":                     {},
	"tolerate":              {"internal/finding", "internal/goroutine"},
	"internal/event":        {},
	"internal/sched":        {"internal/event"},
	"internal/trace":        {"internal/event"},
	"internal/trace/show":   {"internal/event", "internal/trace"},
	"internal/wire":         {"internal/event", "internal/sched", "internal/trace"},
	"internal/wire/ring":    {"internal/event"},
	"internal/rt":           {"internal/event", "internal/sched", "internal/rt/frames", "internal/rt/journal", "internal/rt/panictext", "internal/rt/peek", "internal/rt/race", "internal/rt/record", "internal/rt/stacktext", "internal/rt/timers", "internal/rt/waiting"},
	"internal/rt/frames":    {"internal/event"},
	"internal/rt/journal":   {"internal/rt/peek"},
	"internal/rt/loopback":  {"internal/event", "internal/rt"},
	"internal/rt/panictext": {},
	"internal/rt/stacktext": {},
	"internal/rt/peek":      {},
	"internal/rt/race":      {"internal/event"},
	"internal/rt/record":    {"internal/event", "internal/rt/peek"},
	"internal/rt/timers":    {},
	"internal/rt/waiting":   {"internal/event"},
	"internal/rt/drive":     {"internal/rt", "internal/rt/frames", "internal/event", "internal/sched", "internal/trace", "internal/wire", "internal/wire/ring"},
	"internal/load":         {"internal/gotool", "internal/source"},

	"internal/guard/inplace":   {},
	"internal/guard/lockset":   {"internal/guard/inplace", "internal/guard/printed", "internal/locks"},
	"internal/guard/printed":   {},
	"internal/guard/whole":     {"internal/guard/lockset", "internal/locks"},
	"internal/locks":           {},
	"internal/locks/audit":     {"internal/locks"},
	"internal/locks/lockstest": {"internal/load"},

	"internal/protect/supervise": {"internal/finding", "internal/protect/watch", "internal/scratch"},
	"internal/instrument/hooks":  {"internal/load", "internal/source", "internal/trace", "internal/event"},

	"internal/guard":             {"internal/guard/lockset", "internal/load", "internal/locks", "internal/source"},
	"internal/scratch":           {},
	"internal/console":           {},
	"internal/instrument":        {".", "internal/scratch", "internal/gotool", "internal/load", "internal/event", "internal/trace", "internal/overlay", "internal/source", "internal/instrument/hooks"},
	"internal/search":            {"internal/event", "internal/sched", "internal/trace", "internal/wire"},
	"internal/explore":           {"internal/scratch", "internal/event", "internal/sched", "internal/search", "internal/trace", "internal/trace/show", "internal/wire", "internal/wire/ring", "internal/instrument", "internal/instrument/hooks", "internal/load", "internal/finding"},
	"internal/sli/ir":            {},
	"internal/sli/exec":          {"internal/sli/ir"},
	"internal/sli":               {"internal/sli/exec", "internal/sli/ir"},
	"internal/sli/draw":          {"internal/sli", "internal/sli/ir"},
	"internal/sli/slitest":       {"internal/sli/exec", "internal/sli/ir"},
	"internal/lift/gossa":        {"internal/sli/exec", "internal/sli/ir", "internal/event", "internal/trace"},
	"internal/repair":            {"internal/sli", "internal/sli/draw", "internal/sli/exec", "internal/sli/ir", "internal/gotool", "internal/lift/gossa", "internal/load", "internal/source", "internal/instrument", "internal/overlay", "internal/explore", "internal/event", "internal/sched", "internal/trace", "internal/trace/show", "internal/wire", "internal/repair/cover", "internal/repair/dataname", "internal/repair/disturbed", "internal/repair/gotest", "internal/repair/nolock", "internal/repair/reshape", "internal/repair/reshape/change", "internal/repair/rounds", "internal/repair/tried", "internal/repair/uncovered", "internal/guard", "internal/guard/lockset", "internal/guard/whole", "internal/locks", "internal/locks/audit"},
	"internal/repair/cover":      {"internal/load", "internal/locks", "internal/repair/cover/further", "internal/repair/cover/handle", "internal/repair/cover/outside", "internal/repair/cover/statement", "internal/repair/dataname", "internal/repair/variant", "internal/source"},
	"internal/repair/dataname":   {},
	"internal/repair/disturbed":  {"internal/trace"},
	"internal/repair/gotest":     {"internal/gotool"},
	"internal/repair/uncovered":  {"internal/load", "internal/source", "internal/guard/lockset", "internal/guard/whole", "internal/locks", "internal/repair/cover"},
	"internal/repair/variant":    {"internal/locks", "internal/source"},
	"internal/repair/reshape":    {"internal/event", "internal/locks", "internal/repair/cover", "internal/repair/dataname", "internal/repair/reshape/arrays", "internal/repair/reshape/atomics", "internal/repair/reshape/change", "internal/repair/reshape/channels", "internal/repair/reshape/syntax", "internal/source", "internal/trace"},
	"internal/report":            {"internal/campaign", "internal/event", "internal/finding", "internal/guard", "internal/repair", "internal/repair/uncovered", "internal/report/lanes", "internal/report/page", "internal/sli/draw", "internal/trace", "internal/trace/show"},
	"internal/report/lanes":      {"internal/event", "internal/sched", "internal/trace", "internal/trace/show"},
	"internal/report/page":       {"internal/finding", "internal/report/lanes", "internal/sli/draw"},
	"internal/report/browser":    {},
	"internal/report/runtest":    {"internal/event", "internal/sched", "internal/trace"},
	"internal/judge":             {},
	"internal/randprog":          {},
	"internal/randprog/compound": {"internal/randprog"},
	"internal/randprog/sharing":  {"internal/randprog"},
	"internal/explore/blocking":  {"internal/explore", "internal/instrument", "internal/sched"},
	"internal/truth":             {"internal/event", "internal/explore", "internal/instrument", "internal/judge", "internal/lift/gossa", "internal/load", "internal/randprog", "internal/sched", "internal/sli/exec", "internal/sli/ir", "internal/trace"},
	"internal/truth/fixes":       {"internal/explore", "internal/instrument", "internal/judge", "internal/randprog", "internal/randprog/compound", "internal/repair", "internal/sched", "internal/trace"},
	"internal/gotool":            {},
	"internal/settings":          {"internal/finding"},
	"internal/goroutine":         {},
	"internal/source":            {},
	"internal/overlay":           {"internal/gotool"},
	"internal/protect":           {".", "internal/scratch", "internal/gotool", "internal/load", "internal/guard", "internal/overlay", "internal/protect/facts", "internal/protect/plan", "internal/protect/rule", "internal/protect/write", "internal/source"},
	"internal/truth/disturbed":   {"internal/finding", "internal/gotool", "internal/guard", "internal/protect", "internal/protect/plan", "internal/protect/supervise"},
	"internal/truth/protected":   {"internal/gotool", "internal/protect", "internal/randprog", "internal/randprog/sharing"},
	"internal/protect/alias":     {},
	"internal/protect/bounds":    {},
	"internal/protect/batch":     {"internal/protect/copying", "internal/protect/facts", "internal/protect/use"},
	"internal/protect/copying":   {"internal/protect/facts"},
	"internal/protect/facts":     {"internal/locks", "internal/protect/alias", "internal/protect/bounds", "internal/protect/library", "internal/protect/reflected", "internal/source"},
	"internal/protect/use":       {"internal/protect/facts", "internal/protect/library"},
	"internal/protect/nodes":     {"internal/guard", "internal/locks"},
	"internal/protect/plan":      {"internal/guard", "internal/load", "internal/locks", "internal/protect/batch", "internal/protect/called", "internal/protect/copying", "internal/protect/facts", "internal/protect/nodes", "internal/protect/outline", "internal/protect/rule", "internal/protect/shape", "internal/protect/summary", "internal/protect/use", "internal/source"},
	"internal/protect/called":    {"internal/guard", "internal/protect/facts"},
	"internal/protect/rule":      {},
	"internal/protect/library":   {},
	"internal/protect/reflected": {},
	"internal/protect/outline":   {"internal/locks", "internal/protect/facts", "internal/protect/shape"},
	"internal/protect/shape":     {"internal/protect/facts"},
	"internal/protect/summary":   {"internal/guard", "internal/protect/facts"},
	"internal/protect/write":     {"internal/protect/batch", "internal/protect/copying", "internal/protect/facts", "internal/protect/plan", "internal/protect/use", "internal/source"},
	"internal/protect/watch":     {"internal/finding", "tolerate"},
	"internal/protect/aside":     {"internal/page", "internal/protect/watch", "isolate"},
	"internal/protect/wicket":    {"internal/finding", "internal/goroutine", "internal/page", "internal/protect/watch"},
	"internal/txcompile/library": {},
	"internal/txcompile/syntax":  {},
	"internal/txcompile/listing": {"internal/load"},
	"internal/txcompile/txprog":  {"internal/gotool", "internal/txcompile"},
	"internal/x86":               {},
	"internal/emu/mem":           {},
	"internal/emu/float80":       {},
	"internal/emu/cpu":           {"internal/emu/float80", "internal/emu/mem", "internal/event", "internal/x86"},
	"internal/emu/abi":           {},
	"internal/emu/sockets":       {"internal/emu/abi"},
	"internal/emu/image":         {"internal/emu/mem"},
	"internal/emu/files":         {"internal/emu/abi", "internal/emu/mem", "internal/emu/sockets"},
	"internal/emu/linux":         {"internal/emu/abi", "internal/emu/cpu", "internal/emu/files", "internal/emu/image", "internal/emu/mem", "internal/emu/sockets", "internal/event", "internal/x86"},
	"internal/emu":               {"internal/emu/linux", "internal/emu/mem", "internal/event", "internal/trace"},
	"internal/emu/drive":         {"internal/emu", "internal/emu/abi", "internal/emu/cpu", "internal/emu/linux", "internal/emu/mem", "internal/emu/sockets", "internal/event", "internal/rt/race", "internal/sched", "internal/search", "internal/trace", "internal/wire", "internal/x86"},
	"internal/binpatch":          {"internal/x86"},
	"internal/repair/binfix":     {"internal/binpatch", "internal/emu/drive", "internal/emu/linux", "internal/event", "internal/lift/x86", "internal/native", "internal/sched", "internal/sli", "internal/sli/draw", "internal/sli/exec", "internal/sli/ir", "internal/trace", "internal/wire", "internal/x86"},
	"internal/lift/x86":          {"internal/emu/cpu", "internal/emu/linux", "internal/event", "internal/sli/exec", "internal/sli/ir", "internal/trace", "internal/x86"},
	"internal/native":            {"internal/emu/cpu", "internal/emu/mem", "internal/lift/x86", "internal/sli/exec", "internal/sli/ir", "internal/x86"},
	"cmd/cofferdam/topics":       {},
	"internal/worktree":          {"internal/gotool"},
	"cmd/cofferdam/command":      {"internal/console", "internal/scratch", "internal/settings"},
	"cmd/cofferdam/publication":  {"cmd/cofferdam/command", "internal/explore", "internal/finding", "internal/publish", "internal/trace", "internal/trace/show"},
	"cmd/cofferdam/manual":       {"cmd/cofferdam/command", "cmd/cofferdam/topics"},
	"explore":                    {},
	"internal/marks":             {"internal/gotool", "internal/scratch"},
	"vet":                        {"stm/stmcheck", "vet/guards", "vet/splitsection"},
	"vet/guards":                 {"internal/guard"},
	"vet/splitsection":           {"internal/guard", "internal/guard/lockset", "internal/guard/whole", "internal/locks", "vet/guards"},
	"vet/golangci":               {"vet"},
	"cmd/cofferdam/vetting":      {"cmd/cofferdam/command", "cmd/cofferdam/publication", "internal/finding", "internal/gotool", "internal/publish", "vet", "internal/settings"},
	"cmd/cofferdam/guarding":     {"cmd/cofferdam/command", "cmd/cofferdam/publication", "internal/finding", "internal/guard", "internal/load", "internal/publish", "internal/settings"},
	"cmd/cofferdam":              {"cmd/cofferdam/...", "internal/..."},
	"cmd/cofferdam/versions":     {"cmd/cofferdam/command", "internal/instrument"},
	"cmd/cofferdam/debugging":    {"cmd/cofferdam/command", "internal/explore", "internal/sched", "internal/scratch", "internal/trace", "internal/wire"},
	"cmd/cofferdam/tracing":      {"cmd/cofferdam/command", "internal/event", "internal/trace", "internal/trace/show"},
	"cmd/cofferdam/campaigns":    {"cmd/cofferdam/command", "cmd/cofferdam/publication", "internal/publish", "internal/campaign", "internal/console", "internal/explore", "internal/finding", "internal/scratch", "internal/trace", "internal/worktree"},
	"internal/campaign":          {"internal/explore", "internal/finding", "internal/sched", "internal/scratch", "internal/trace", "internal/wire"},
	"examples/...":               {"examples/...", "isolate", "monitor", "stm", "tolerate"},
	"bench/...":                  {"bench/...", "isolate", "stm", "tolerate", "vet/splitsection", "internal/..."},

	"internal/txcompile":          {"internal/gotool", "internal/load", "internal/overlay", "internal/scratch", "internal/source", "internal/txcompile/assigned", "internal/txcompile/flow", "internal/txcompile/library", "internal/txcompile/listing", "internal/txcompile/syntax"},
	"internal/txcompile/assigned": {"internal/txcompile/library"},
	"internal/txcompile/flow":     {"internal/load", "internal/source", "internal/txcompile/library", "internal/txcompile/listing"},

	"internal/repair/rounds":           {"internal/source"},
	"internal/repair/tried":            {"internal/explore", "internal/sched", "internal/wire"},
	"internal/repair/reshape/channels": {"internal/event", "internal/locks", "internal/repair/cover", "internal/repair/reshape/change", "internal/repair/reshape/syntax", "internal/source", "internal/trace"},
	"internal/repair/reshape/arrays":   {"internal/event", "internal/repair/reshape/change", "internal/repair/reshape/syntax", "internal/source"},
	"internal/repair/reshape/atomics":  {"internal/event", "internal/locks", "internal/repair/reshape/change", "internal/repair/reshape/syntax", "internal/source"},
	"internal/repair/cover/handle":     {},
	"internal/repair/cover/further":    {"internal/source"},
	"internal/repair/cover/outside":    {"internal/locks", "internal/source"},
	"internal/repair/nolock":           {"internal/event", "internal/trace"},
	"internal/repair/cover/statement":  {"internal/locks", "internal/source"},
	"internal/repair/reshape/change":   {"internal/event", "internal/repair/cover", "internal/repair/reshape/syntax", "internal/source", "internal/trace"},
	"internal/repair/reshape/syntax":   {"internal/source"},
}

// linked are the packages that users' programs link. They import the standard
// library alone: some are laid over it, and could not import anything else.
var linked = []string{"explore", "isolate", "monitor", "stm", "stm/compiled", "stm/stmvar", "tolerate", "internal/rt/...", "internal/interrupt", "internal/page", "internal/finding", "internal/goroutine", "internal/event", "internal/sched", "internal/trace", "internal/wire", "internal/wire/ring", "internal/protect/watch", "internal/protect/aside", "internal/protect/wicket"}

// testImports are what tests may import beyond their package's imports.
var testImports = map[string][]string{
	"internal/interrupt":      {"internal/page"},
	"internal/campaign":       {"internal/await", "internal/event"},
	"internal/txcompile":      {"internal/await", "internal/load", "internal/txcompile", "internal/txcompile/listing", "internal/txcompile/txprog"},
	"internal/emu/cpu":        {"internal/native"},
	"internal/protect":        {"internal/load", "internal/protect", "internal/truth/protected", "internal/randprog/sharing"},
	"internal/protect/facts":  {"internal/load", "internal/protect/facts"},
	"internal/protect/plan":   {"internal/load", "internal/locks/lockstest", "internal/protect/plan"},
	"internal/protect/write":  {"internal/load", "internal/protect/outline", "internal/protect/use", "internal/protect/write"},
	"internal/guard/lockset":  {"internal/load", "internal/locks/lockstest"},
	"internal/guard/whole":    {"internal/guard/whole", "internal/load"},
	"internal/repair/variant": {"internal/load", "internal/repair/variant"},
	"internal/repair/reshape": {"internal/load"},
	".":                       {"internal/gotool"},
	"internal/emu/sockets":    {"internal/await"},
	"isolate":                 {"internal/await", "internal/finding", "internal/goroutine", "isolate"},
	"stm":                     {"internal/await"},
	"tolerate":                {"internal/await"},
	"internal/protect/wicket": {"internal/await", "internal/finding", "internal/protect/wicket"},
	"internal/locks":          {"internal/load", "internal/locks", "internal/locks/lockstest"},
	"internal/locks/audit":    {"internal/load", "internal/locks/audit"},
	"internal/repair/cover":   {"internal/locks/audit"},
	"internal/binpatch":       {"internal/emu/linux", "internal/lift/x86"},
	"internal/lift/x86":       {"internal/emu/drive", "internal/sched", "internal/sli"},
	"internal/lift/gossa":     {"internal/load", "internal/lift/gossa/testdata/...", "internal/sli", "internal/sli/draw", "internal/sli/slitest"},
	"internal/sli":            {"internal/sli", "internal/sli/draw", "internal/sli/slitest"},
	"internal/sli/draw":       {"internal/sli/slitest"},
	"internal/sli/exec":       {"internal/sli/slitest"},
	"internal/sli/ir":         {"internal/sli/slitest"},
	"internal/judge":          {"internal/judge", "internal/randprog"},
	"internal/instrument":     {"internal/randprog"},
	"internal/rt/loopback":    {"internal/rt/loopback", "internal/sched"},
	"internal/search":         {"internal/trace"},
	"internal/explore":        {"internal/report/runtest"},
	"internal/report":         {"internal/await", "internal/repair/tried", "internal/report/runtest"},
	"internal/report/lanes":   {"internal/report/runtest"},
	"internal/report/browser": {"internal/finding", "internal/report", "internal/report/lanes", "internal/report/page", "internal/report/runtest", "internal/sli/draw"},

	"internal/repair/reshape/syntax": {"internal/load"},
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
	Standard                           bool
}

func list(t *testing.T, args ...string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports,Standard"}, args...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// own is the name of a package of the module within it; the module's own is ".".
func own(path string) string {
	if path+"/" == module {
		return "."
	}
	return strings.TrimPrefix(path, module)
}

// match reports whether a package is one of the patterns.
func match(patterns []string, pkg string) bool {
	for _, p := range patterns {
		if folder, ok := strings.CutSuffix(p, "..."); p == pkg || ok && strings.HasPrefix(pkg+"/", folder) {
			return true
		}
	}
	return false
}

// allowed returns what a package may import, by the most specific pattern.
func allowed(table map[string][]string, pkg string) (patterns []string, known bool) {
	best := ""
	for p := range table {
		if match([]string{p}, pkg) && len(p) > len(best) {
			best = p
		}
	}
	return table[best], best != ""
}

func TestImportsPointDownwards(t *testing.T) {
	for _, p := range list(t, "./...", "./bench/...") {
		name := own(p.ImportPath)
		patterns, known := allowed(imports, name)
		if !known {
			t.Errorf("%s is not in the import graph: say there what it may import", name)
			continue
		}
		check := func(list, patterns []string) {
			for _, i := range list {
				if strings.HasPrefix(i+"/", module) && own(i) != name && !match(patterns, own(i)) {
					t.Errorf("%s imports %s, which the import graph does not allow", name, own(i))
				}
			}
		}
		check(p.Imports, patterns)
		forTests, _ := allowed(testImports, name)
		check(append(p.TestImports, p.XTestImports...), append(forTests, patterns...))
	}
}

func TestLinkedPackagesImportOnlyTheStandardLibrary(t *testing.T) {
	args := []string{"-deps"}
	for _, l := range linked {
		args = append(args, "./"+l)
	}
	for _, p := range list(t, args...) {
		own, ours := strings.CutPrefix(p.ImportPath, module)
		switch {
		case p.Standard:
		case ours && match(linked, own):
		default:
			t.Errorf("a user's program would link %s", p.ImportPath)
		}
	}
}

// walk calls f with each file of the repository, but for testdata and hidden folders.
func walk(f func(path string, text []byte) error) error {
	top, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && path != top || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(rel), text)
	})
}

// files calls f with each file of the repository whose name ends in one of the
// suffixes, line by line.
func files(t *testing.T, f func(path string, lines []string), suffixes ...string) {
	t.Helper()
	err := walk(func(path string, text []byte) error {
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				f(path, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"))
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUnsafeIsNamed(t *testing.T) {
	files(t, func(path string, lines []string) {
		named := strings.HasSuffix(path, "_unsafe.go") || strings.HasSuffix(path, "_unsafe_test.go")
		for i, l := range lines {
			if strings.TrimSpace(l) == `"unsafe"` && !named {
				t.Errorf("%s:%d: unsafe belongs into a file named *_unsafe.go", path, i+1)
			}
			if strings.HasPrefix(l, "//go:linkname") {
				t.Errorf("%s:%d: linkname is not used here", path, i+1)
			}
		}
	}, ".go")
}

// TestAssemblyIsShortAndExplained: only in internal/page, internal/interrupt and internal/rt, each function below 60
// lines, with a comment above it.
func TestAssemblyIsShortAndExplained(t *testing.T) {
	const most = 60
	files(t, func(path string, lines []string) {
		if !strings.HasPrefix(path, "internal/page/") && !strings.HasPrefix(path, "internal/interrupt/") && !strings.HasPrefix(path, "internal/rt/") {
			t.Errorf("%s: assembly belongs into internal/page or internal/interrupt, or into internal/rt, which cannot import them", path)
		}
		start := -1
		end := func(i int) {
			if start >= 0 && i-start > most {
				t.Errorf("%s:%d: a function of %d lines, want at most %d", path, start+1, i-start, most)
			}
		}
		for i, l := range lines {
			switch {
			case strings.HasPrefix(l, "TEXT"):
				if start = i; i == 0 || !strings.HasPrefix(lines[i-1], "//") {
					t.Errorf("%s:%d: a function without its contract", path, i+1)
				}
			case l == "":
				end(i)
				start = -1
			}
		}
		end(len(lines))
	}, ".s")
}

var forbiddenInTests = map[*regexp.Regexp]string{
	regexp.MustCompile(`\btime\.Sleep\(`):        "waits for time, not for an event",
	regexp.MustCompile(`\.Skip(f|Now)?\(`):       "skips",
	regexp.MustCompile(`"github.com/stretchr/`):  "uses an assertion framework",
	regexp.MustCompile(`^\s*//.*\b(TODO|FIXME)`): "is unfinished",
}

func TestTestsNeitherSleepNorSkip(t *testing.T) {
	files(t, func(path string, lines []string) {
		if strings.HasPrefix(path, "internal/lint/") {
			return
		}
		for i, l := range lines {
			for re, what := range forbiddenInTests {
				if re.MatchString(l) {
					t.Errorf("%s:%d: the test %s", path, i+1, what)
				}
			}
		}
	}, "_test.go")
}
