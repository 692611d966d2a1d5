package gossa

import (
	"go/ast"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func TestScratch(t *testing.T) {
	for _, pair := range strings.Fields(os.Getenv("SCRATCH")) {
		dir, file, _ := strings.Cut(pair, "=")
		pkgs, err := load.Packages(load.Config{Dir: dir, Tests: true})
		if err != nil {
			t.Log(dir, err)
			continue
		}
		// take the variants with tests
		keep := pkgs[:0]
		byPath := map[string]int{}
		for _, p := range pkgs {
			if strings.HasSuffix(p.PkgPath, ".test") {
				continue
			}
			if i, ok := byPath[p.PkgPath]; ok {
				if p.ForTest != "" {
					keep[i] = p
				}
				continue
			}
			byPath[p.PkgPath] = len(keep)
			keep = append(keep, p)
		}
		pkgs = keep
		prog, built := load.SSA(pkgs)
		var files []*ast.File
		for _, p := range pkgs {
			files = append(files, p.Syntax...)
		}
		p, err := Lift(prog, built, files)
		if err != nil {
			t.Log(dir, err)
			continue
		}
		r, err := trace.Open(file)
		if err != nil {
			t.Log(dir, err)
			continue
		}
		lost := p.Bind(r.Sites())
		tr := NewTrace(r)
		fs := p.Failures(tr, r.Outcome)
		t.Logf("==== %s: %d events, %d sites, lost %d, failures %d %+v", dir, r.Len(), len(r.Sites()), lost, len(fs), r.Outcome.Failures[0].Message)
		if lost > 0 {
			for _, s := range r.Sites() {
				if len(p.At(s.ID)) == 0 && (s.Kind == "load" || s.Kind == "store" || strings.HasPrefix(s.Kind, "map") || s.Kind == "alloc") {
					t.Logf("   lost site %d %s %s:%d %s", s.ID, s.Kind, s.File[strings.LastIndex(s.File, "/"):], s.Line, s.Expr)
				}
			}
		}
		for _, f := range fs {
			start := time.Now()
			a, err := sli.Analyse(p.Program, tr, f, sli.Options{})
			if err != nil {
				t.Logf("   %v: %v", f.Why, err)
				continue
			}
			t.Logf("   %v: %d machines, %d fixes, %v %v", f.Why, len(a.Machines), len(a.Fixes), time.Since(start).Round(time.Millisecond), a.Reasons)
			if os.Getenv("MACH") != "" {
				for _, m := range a.Machines {
					t.Logf("%s", m)
				}
			}
			for i, x := range a.Fixes {
				if i > 3 {
					break
				}
				t.Logf("   fix %d cost %d discarded %d %v", i, x.Cost, x.Discarded, x.Data())
				for _, s := range x.Sections {
					var locks []string
					for _, ac := range s.Accesses {
						for range ac.Locks {
							locks = append(locks, "L")
						}
					}
					t.Logf("      %v in %s: %d instrs, entry %s:%d, last line %d, size %d locks %v", s.Role, s.Func.Name, len(s.Instrs), "", p.Position(s.Entries[0]).Line, p.Position(s.Instrs[len(s.Instrs)-1]).Line, s.Size, locks)
				}
			}
		}
		if tr.Err() != nil {
			t.Log(tr.Err())
		}
		r.Close()
	}
}
