package txcompile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/listing"
)

var update = flag.Bool("update", false, "write what the compiler makes of the programs to testdata")

// TestRewrite holds the texts of compiled programs to golden files: input.go is the program,
// output.go what becomes of it, and effects what it cannot undo. What becomes of them is built.
func TestRewrite(t *testing.T) {
	names, err := filepath.Glob("testdata/rewrite/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no programs", err)
	}
	dir, built := t.TempDir(), t.TempDir()
	patterns := []string{}
	archives := map[string]*txtar.Archive{}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		archives[base] = a
		write(t, filepath.Join(dir, base, "input.go"), a.Files[0].Data)
		patterns = append(patterns, "./"+base)
	}
	module(t, dir)
	module(t, built)
	l, err := listing.New(load.Config{Dir: dir, Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := l.Read(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range pkgs {
		base := pkg.Name
		t.Run(base, func(t *testing.T) {
			p, err := planned([]*packages.Package{pkg}, &listing.Listing{})
			if err != nil {
				t.Fatal(err)
			}
			a := archives[base]
			output := []byte(p.texts()[0].text)
			write(t, filepath.Join(built, base, "output.go"), output)
			got := []txtar.File{a.Files[0], {Name: "output.go", Data: output}}
			var effects bytes.Buffer
			for _, e := range p.report().Effects {
				e.Position.Filename = filepath.Base(e.Position.Filename)
				effects.WriteString(e.String() + "\n")
			}
			got = append(got, txtar.File{Name: "effects", Data: effects.Bytes()})
			name := filepath.Join("testdata/rewrite", base+".txtar")
			out := txtar.Format(&txtar.Archive{Comment: a.Comment, Files: got})
			if *update {
				write(t, name, out)
				return
			}
			if diff := cmp.Diff(string(txtar.Format(a)), string(out)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
	if out, err := gotool.New(built, nil).Command(t.Context(), "build", "./...").CombinedOutput(); err != nil {
		t.Errorf("what becomes of the programs: %v\n%s", err, out)
	}
}

// module makes a directory a module that uses the stm of this one.
func module(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26.0\n\nrequire github.com/cofferdam-go/cofferdam v0.0.0\n\nreplace github.com/cofferdam-go/cofferdam => "+root+"\n"))
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
}
