package vetting

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/cofferdam-go/cofferdam/internal/settings"
	"github.com/cofferdam-go/cofferdam/vet"
)

// asksForVersion is the argument by which the go command asks what the tool is, and keeps what the
// tool has found under the answer.
const asksForVersion = "-V=full"

// suppressedFlag has the tool report what cofferdam.toml suppresses, too: cofferdam vet leaves
// that out itself, and says how much it was.
const suppressedFlag = "suppressed"

// IsTool reports whether the arguments are those by which go vet calls its tool: it asks for the
// tool's version and flags, and then names a file that describes a package.
func IsTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	return args[0] == asksForVersion || args[0] == "-flags" || strings.HasSuffix(last, ".cfg") && strings.HasPrefix(args[0], "-") || len(args) == 1 && strings.HasSuffix(last, ".cfg")
}

// Tool does what go vet asks for, and ends the process.
func Tool() {
	if os.Args[1] == asksForVersion {
		if err := writeVersion(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "cofferdam:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	all := flag.Bool(suppressedFlag, false, "also report what "+settings.Name+" suppresses")
	analyzers := vet.Analyzers()
	for _, a := range analyzers {
		sift(a, all)
	}
	unitchecker.Main(analyzers...)
}

// writeVersion answers the go command. The settings are part of the answer, or what was found by
// others would be told from the go command's cache.
func writeVersion(w io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	files, err := settings.Files(".")
	if err != nil {
		return err
	}
	sum := sha256.New()
	for _, name := range append([]string{self}, files...) {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q\n", name)
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
	}
	_, err = fmt.Fprintf(w, "%s version devel buildID=%x\n", filepath.Base(os.Args[0]), sum.Sum(nil))
	return err
}

// sift has an analyzer report only what the settings of a package's module do not suppress.
func sift(a *analysis.Analyzer, all *bool) {
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		if *all || !isOfUser(pass) {
			return run(pass)
		}
		file, err := settings.Find(filepath.Dir(pass.Fset.Position(pass.Files[0].FileStart).Filename))
		if err != nil {
			return nil, err
		}
		report := pass.Report
		pass.Report = func(d analysis.Diagnostic) {
			found := newDiagnostic(pass, &d)
			if result := found.result(kinds[a.Name]); !file.Suppressed(&result.Finding) {
				report(d)
			}
		}
		return run(pass)
	}
}

// isOfUser reports whether a package is of a module that is on disk to be worked on: others have
// their own settings, which are nobody's here.
func isOfUser(pass *analysis.Pass) bool {
	return len(pass.Files) > 0 && pass.Module != nil && pass.Module.Path != "" && pass.Module.Version == ""
}
