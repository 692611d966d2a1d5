package instrument

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam"
)

// hookPackages are the packages of this module that instrumented programs link: the hooks,
// the driver, and what they import.
var hookPackages = []string{
	"internal/rt", "internal/rt/drive", "internal/rt/frames", "internal/rt/journal", "internal/rt/loopback", "internal/rt/panictext", "internal/rt/stacktext", "internal/rt/peek",
	"internal/rt/race", "internal/rt/record", "internal/rt/timers", "internal/rt/waiting",
	"internal/event", "internal/sched", "internal/trace", "internal/wire", "internal/wire/ring",
}

// addHooks lays the hooks over the standard library.
func (b *builder) addHooks() error {
	sources, err := cofferdam.Sources(hookPackages...)
	if err != nil {
		return err
	}
	for _, s := range sources {
		s, ok := assembly(s)
		if !ok {
			continue
		}
		b.over.Text[b.over.Std(s.Name)] = s.Text
		fmt.Fprintln(b.hash, s.Name, len(s.Text))
		io.WriteString(b.hash, s.Text)
	}
	return b.addPlain()
}

// addPlain lays a copy of encoding/binary beside the hooks, for the recording of runs: the
// original has hooks, and each number that is written down would call some of them.
func (b *builder) addPlain() error {
	files, err := filepath.Glob(filepath.Join(b.env.GOROOT, "src", "encoding", "binary", "*.go"))
	if err != nil {
		return fmt.Errorf("copying encoding/binary: %w", err)
	}
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			b.over.Links[b.over.Std(plainBinary+"/"+filepath.Base(name))] = name
		}
	}
	return nil
}

// plainBinary is the path of the copy of encoding/binary.
const plainBinary = "cofferdamrt/binary"

// assembly moves the hooks' assembly to package runtime, and has the hooks call it
// there: the assembler wants to run in the package's directory, and that of cofferdamrt
// does not exist. What must not be preempted calls package runtime, too. It returns false
// for what package runtime does without.
func assembly(s cofferdam.Source) (_ cofferdam.Source, ok bool) {
	switch name := path.Base(s.Name); {
	case filepath.Ext(name) != ".s":
	case strings.HasPrefix(name, "here_"):
		return s, false
	default:
		s.Name = "runtime/cofferdam_" + name
		s.Text = strings.NewReplacer("·returns(SB)", "·CofferdamReturns(SB)", "·framePointer(SB)", "·CofferdamFramePointer(SB)").Replace(s.Text)
	}
	switch {
	case filepath.Ext(s.Name) != ".go":
	case aboveHooks(s.Name):
		s.Text = strings.Replace(s.Text, "\"encoding/binary\"\n", strconv.Quote(plainBinary)+"\n", 1)
	default:
		s.Text = strings.Replace(s.Text, "\"strconv\"\n", "strconv \"internal/strconv\"\n", 1)
	}
	switch s.Name {
	case "cofferdamrt/g.go":
		s.Text = strings.NewReplacer(
			"package rt\n", "package rt; import \"runtime\"\n",
			"\nfunc here() (who, lo, hi uintptr)\n", "\nfunc here() (who, lo, hi uintptr) { return runtime.CofferdamHere() }\n",
			"//go:noescape\nfunc returns(pcs *[8]uintptr, most int) int\n", "func returns(pcs *[8]uintptr, most int) int { return runtime.CofferdamReturns(pcs, most) }\n",
			"\nfunc framePointer() uintptr\n", "\nfunc framePointer() uintptr { return runtime.CofferdamFramePointer() }\n",
		).Replace(s.Text)
	case "cofferdamrt/token_unsafe.go":
		s.Text = strings.NewReplacer(
			"import \"unsafe\"\n", "import (\n\t\"runtime\"\n\t\"unsafe\"\n)\n",
			"//go:nosplit\n//go:noinline\nfunc takeToken", "func takeToken",
			"return takeAlone(", "return runtime.CofferdamTake(",
		).Replace(s.Text)
	}
	return s, true
}

// aboveHooks reports whether a file is of a package that takes the tool's orders. The others
// are below package strconv, which has hooks, but not below what the runtime has of it.
func aboveHooks(file string) bool {
	switch path.Dir(file) {
	case "cofferdamrt/drive", "cofferdamrt/trace", "cofferdamrt/wire", "cofferdamrt/wire/ring":
		return true
	}
	return false
}
