package binary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

// A Corpus is what came of programs that are built here.
type Corpus struct {
	// Matrix are the bugs of the paper, by compiler and flags; Programs are further ones.
	Matrix   []Built `json:"matrix,omitempty"`
	Programs []Built `json:"programs,omitempty"`
}

// A Built is a program with how it was built.
type Built struct {
	Fixing
	Compiler string `json:"compiler"`
	Want     string `json:"want"`
	// Verdict is fixed, refused, or "not found": optimised, some programs are right, such as
	// glibc.c by clang, which takes a call of a null pointer for impossible and drops the test
	// that leads there.
	Verdict string `json:"verdict"`
}

// A build is a compiler with its flags.
type build struct{ compiler, flags string }

// builds are the ways in which the bugs of the paper are built, each as a position
// independent program and as another.
func builds(quick bool) []build {
	levels := map[string][]string{"gcc": {"-O0", "-O1", "-O2", "-O3", "-Os"}, "clang": {"-O0", "-O2"}}
	if quick {
		levels = map[string][]string{"gcc": {"-O1"}, "clang": {"-O2"}}
	}
	var all []build
	for _, compiler := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(compiler); err != nil {
			continue
		}
		for _, level := range levels[compiler] {
			for _, pie := range []string{"-pie -fPIE", "-no-pie"} {
				all = append(all, build{compiler, level + " " + pie})
			}
		}
	}
	return all
}

// fixCorpus builds and fixes the programs whose names match.
func fixCorpus(s *command.Session, names *regexp.Regexp) (*Corpus, error) {
	root, err := s.Root()
	if err != nil {
		return nil, err
	}
	c := &Corpus{}
	all := builds(s.Quick)
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "Nothing was built: there is neither gcc nor clang.")
		return c, nil
	}
	dir := s.Temp("corpus")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	examples := filepath.Join(root, "examples", "binary")
	fmt.Fprintf(s.Out, "Programs built here, stripped and fixed\n\n")
	for _, name := range []string{"toctou", "twovar", "publish", "privatize", "glibc", "thunderbird"} {
		if !names.MatchString(name) {
			continue
		}
		for _, b := range all {
			one, err := fixBuilt(s, dir, filepath.Join(examples, name+".c"), b)
			if err != nil || s.Context.Err() != nil {
				return c, err
			}
			c.Matrix = append(c.Matrix, one)
		}
	}
	sources, err := filepath.Glob(filepath.Join(examples, "more", "*.c*"))
	if err != nil {
		return c, err
	}
	for _, source := range sources {
		if !names.MatchString(filepath.Base(source)) {
			continue
		}
		for _, level := range []string{"-O0", "-O2"} {
			one, err := fixBuilt(s, dir, source, build{"gcc", level})
			if err != nil || s.Context.Err() != nil {
				return c, err
			}
			c.Programs = append(c.Programs, one)
		}
	}
	summary(s, "the paper's bugs", c.Matrix)
	summary(s, "further programs", c.Programs)
	return c, nil
}

func summary(s *command.Session, what string, all []Built) {
	right, wrong, missing := 0, 0, 0
	for _, b := range all {
		switch b.Verdict {
		case b.Want:
			right++
		case "not found":
			missing++
		default:
			wrong++
		}
	}
	fmt.Fprintf(s.Out, "%s: %d as wanted, %d not, in %d nothing fails\n", what, right, wrong, missing)
}

var wanted = regexp.MustCompile(`want: (fixed|refused)`)

// fixBuilt builds a program and fixes it.
func fixBuilt(s *command.Session, dir, source string, b build) (Built, error) {
	one := Built{Compiler: b.compiler + " " + b.flags, Want: "fixed"}
	text, err := os.ReadFile(source)
	if err != nil {
		return one, err
	}
	if m := wanted.FindSubmatch(text); m != nil {
		one.Want = string(m[1])
	}
	compiler := b.compiler
	if filepath.Ext(source) == ".cc" {
		compiler = map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
	}
	program := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	args := append(strings.Fields(b.flags), "-pthread", "-s", "-o", program, source)
	if out, err := exec.CommandContext(s.Context, compiler, args...).CombinedOutput(); err != nil {
		return one, fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	if one.Fixing, err = fixExample(s, program); err != nil {
		return one, err
	}
	switch {
	case one.Fixed:
		one.Verdict = "fixed"
	case one.Refusal != "":
		one.Verdict = "refused"
	default:
		one.Verdict = "not found"
	}
	mark := ""
	if one.Verdict != one.Want {
		mark = "wanted: " + one.Want
	}
	fmt.Fprintf(s.Out, "%-12s %-22s %-10s %5.1f s (%.1f of the processor)  %s %s\n", one.Name, one.Compiler, one.Verdict, one.Seconds, one.Processor, mark, one.Refusal)
	return one, nil
}
