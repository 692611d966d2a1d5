package cofferdam_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// A transcript is a command of a document and what it prints there.
type transcript struct {
	command string
	file    string
	line    int
	output  []string
}

// transcripts returns the commands of all blocks that begin with a prompt.
func transcripts(text string) []transcript {
	var all []transcript
	block, shown := false, false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			block, shown = !block, false
		case !block:
		case strings.HasPrefix(line, "$ "):
			shown = true
			all = append(all, transcript{command: line[2:], line: i + 1})
		case shown:
			last := &all[len(all)-1]
			last.output = append(last.output, strings.TrimRight(line, " "))
		}
	}
	for i := range all {
		for n := len(all[i].output); n > 0 && all[i].output[n-1] == ""; n-- {
			all[i].output = all[i].output[:n-1] // before the next prompt
		}
	}
	return all
}

// varying is what differs from run to run: times, rates, addresses, and where the
// examples are.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`0x[0-9a-f]+`), "0xADDRESS"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`\(\d+/s\)`), "(RATE)"},
}

func normal(line string) string {
	for _, v := range varying {
		line = v.pattern.ReplaceAllString(line, v.with)
	}
	return strings.TrimRight(line, " ")
}

// progress begins what the command says of its own work, which depends on how long that
// takes. A transcript may leave such lines out.
const progress = "cofferdam: "

// mismatch compares a transcript with what was printed, and returns the first line of the
// transcript that was not, -1 if there is none. A line of three dots stands for any
// number of lines; of the ways to read it, the one counts that comes furthest.
func mismatch(want, got []string) int {
	if len(want) == 0 {
		for _, line := range got {
			if !strings.HasPrefix(line, progress) && line != "" {
				return 0
			}
		}
		return -1
	}
	if want[0] == "..." {
		furthest := 0
		for skipped := range len(got) + 1 {
			at := mismatch(want[1:], got[skipped:])
			if at < 0 {
				return -1
			}
			furthest = max(furthest, at)
		}
		return furthest + 1
	}
	for i, line := range got {
		if normal(line) == normal(want[0]) {
			if at := mismatch(want[1:], got[i+1:]); at >= 0 {
				return at + 1
			}
			return -1
		}
		if !strings.HasPrefix(line, progress) {
			break
		}
	}
	return 0
}

// TestTranscriptsAreReal runs every command of README.md and of the tutorial that is shown with a
// prompt, in a copy of the examples, and compares what it prints line for line.
func TestTranscriptsAreReal(t *testing.T) {
	var all []transcript
	for _, name := range []string{"README.md", "docs/tutorial.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown := transcripts(string(text))
		if len(shown) < 4 {
			t.Errorf("%s has only %d transcripts", name, len(shown))
		}
		for i := range shown {
			shown[i].file = name
		}
		all = append(all, shown...)
	}
	dir, bin := t.TempDir(), t.TempDir()
	// The examples, and what of this module they import.
	for _, name := range []string{"examples", "isolate", "monitor", "tolerate", "internal/finding", "internal/goroutine", "internal/page"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	readSources(t)
	if _, err := gotool.New("", nil).Output(t.Context(), "build", "-o", bin, "./cmd/cofferdam"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, tr := range all {
		t.Run(tr.command, func(t *testing.T) {
			args := strings.Fields(tr.command)
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Dir = dir
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run() // which may fail: a failure that was found is one
			if out.Len() == 0 {
				t.Fatalf("it printed nothing: %v", err)
			}
			got := strings.Split(out.String(), "\n")
			if at := mismatch(tr.output, got); at >= 0 {
				line := "the end of the block"
				if at < len(tr.output) {
					line = tr.output[at]
				}
				t.Errorf("%s:%d: the command does not print this, or not here:\n%s\n\nIt prints:\n%s", tr.file, tr.line+1+at, line, out.String())
			}
		})
	}
}

// readSources opens all that the command may be built of. The go command notes which files
// a test opens, and answers from its cache only as long as they stay the same.
func readSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bench" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMismatchSeesWhatDiffers(t *testing.T) {
	for _, test := range []struct {
		want, got string
		at        int
	}{
		{"a\nb", "a\nb\n", -1},
		{"a\nb", "a\nc", 1},
		{"a", "a\nb", 1},
		{"a\n...", "a\nb\nc", -1},
		{"...\nc", "a\nb\nc", -1},
		{"a\n...\nc\nd", "a\nb\nc\nx\nc\nd", -1},
		{"a\n...\nx", "a\nb\nc", 2},
		{"took 3ms (400/s) at 0x7f", "took 1.25s (7/s) at 0x12ab", -1},
		{"a\nb", "cofferdam: building\na\ncofferdam: proving\nb", -1},
		{"cofferdam: 2 of 2\nb", "cofferdam: building\ncofferdam: 2 of 2\nb", -1},
		{"cofferdam: 3 of 3\nb", "cofferdam: 2 of 2\nb", 0},
	} {
		if at := mismatch(strings.Split(test.want, "\n"), strings.Split(test.got, "\n")); at != test.at {
			t.Errorf("%q beside %q: line %d, want %d", test.want, test.got, at, test.at)
		}
	}
}
