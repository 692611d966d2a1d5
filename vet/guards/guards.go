package guards

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// Analyzer reports accesses without the lock.
var Analyzer = &analysis.Analyzer{
	Name: "guards",
	Doc: `report accesses to data without the lock that guards it

Which lock guards what is inferred from how the package uses its locks, and from
annotations, comments and names.`,
	URL:        "https://pkg.go.dev/github.com/cofferdam-go/cofferdam/vet/guards",
	Run:        run,
	Requires:   []*analysis.Analyzer{buildssa.Analyzer},
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{new(Guarded)},
}

var least = 0.5

func init() {
	Analyzer.Flags.Float64Var(&least, "min", 0.5, "how sure it must be, from 0 to 1, that a lock guards something")
}

// A Result is what is known of a package's locks, for other analyzers.
type Result struct {
	Guards *guard.Guards // nil of a package in which there is nothing to infer
	Least  float64
	// Ignored reports whether a comment says that a line is meant to be as it is.
	Ignored func(token.Pos) bool
}

// Guarded is the fact that a lock guards a field, with what it was inferred from.
type Guarded struct {
	Lock     string // the field of the same struct
	Evidence guard.Evidence
}

// AFact makes Guarded a fact.
func (*Guarded) AFact() {}

func (g *Guarded) String() string { return "guarded by " + g.Lock }

func run(pass *analysis.Pass) (any, error) {
	ignored := IgnoredLines(pass)
	result := &Result{Least: least, Ignored: ignored}
	if isStandard(pass) {
		return result, nil
	}
	program := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA).Pkg.Prog
	pkg := &packages.Package{
		ID: pass.Pkg.Path(), Name: pass.Pkg.Name(), PkgPath: pass.Pkg.Path(),
		Fset: pass.Fset, Syntax: pass.Files, Types: pass.Pkg, TypesInfo: pass.TypesInfo,
	}
	result.Guards = guard.InferBeyond(program, []*packages.Package{pkg}, importedFields(pass))
	for _, g := range result.Guards.AtLeast(least) {
		for _, d := range g.Data {
			exportFact(pass, g, d)
			for _, v := range d.Firm() {
				report(pass, g, d, v, ignored)
			}
		}
	}
	return result, nil
}

// isStandard reports whether a package is of the standard library, which follows other rules
// where it implements locks, and is not the user's to change.
func isStandard(pass *analysis.Pass) bool {
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return !strings.Contains(first, ".") && (pass.Module == nil || pass.Module.Path == "" || pass.Module.Path == "std" || pass.Module.Path == "cmd")
}

// importedFields are the fields of other packages that locks are known to guard.
func importedFields(pass *analysis.Pass) map[*types.Var]guard.Known {
	known := map[*types.Var]guard.Known{}
	for _, f := range pass.AllObjectFacts() {
		fact, ok := f.Fact.(*Guarded)
		field, isVar := f.Object.(*types.Var)
		if !ok || !isVar || field.Pkg() == pass.Pkg {
			continue
		}
		if owner, lock := fieldBeside(field, fact.Lock); lock != nil {
			known[field] = guard.Known{Owner: owner, Lock: lock, Evidence: fact.Evidence}
		}
	}
	return known
}

// fieldBeside returns the field of a name in the struct that has a field, and the struct's name.
func fieldBeside(field *types.Var, name string) (owner string, lock *types.Var) {
	scope := field.Pkg().Scope()
	for _, typeName := range scope.Names() {
		t, ok := scope.Lookup(typeName).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		has := false
		for f := range t.Fields() {
			if f.Name() == name {
				lock = f
			}
			has = has || f == field
		}
		if has {
			return typeName, lock
		}
	}
	return "", nil
}

// exportFact has other packages know of a field that they can access.
func exportFact(pass *analysis.Pass, g *guard.Guard, d *guard.Datum) {
	field, ok := d.Object.(*types.Var)
	if !ok || !field.IsField() || !field.Exported() || field.Pkg() != pass.Pkg || d.Way != g.Lock.Object.Name() {
		return
	}
	pass.ExportObjectFact(field, &Guarded{Lock: d.Way, Evidence: d.Evidence})
}

func report(pass *analysis.Pass, g *guard.Guard, d *guard.Datum, v guard.Deviation, ignored func(token.Pos) bool) {
	at := position(pass, v.At)
	if !at.IsValid() || ignored(at) {
		return
	}
	why := "does not hold " + g.Lock.Name
	if v.Why != "" {
		why = g.Lock.Name + " is " + v.Why
	}
	e := d.Evidence
	with := e.ReadsWith + e.WritesWith
	diagnostic := analysis.Diagnostic{
		Pos:     at,
		Message: fmt.Sprintf("%s of %s: %s, which %d of %d lines that access it do (confidence %.2f)", v.Kind, d.Name, why, with, with+e.ReadsWithout+e.WritesWithout, d.Confidence),
	}
	if g.Lock.Object.Pos().IsValid() && g.Lock.Object.Pkg() == pass.Pkg {
		diagnostic.Related = []analysis.RelatedInformation{{Pos: g.Lock.Object.Pos(), Message: "the lock " + g.Lock.Name}}
	}
	if w := v.Witness; w.At.IsValid() && position(pass, w.At).IsValid() {
		diagnostic.Related = append(diagnostic.Related, analysis.RelatedInformation{Pos: position(pass, w.At), Message: fmt.Sprintf("the %s in %s that it can happen beside", w.Kind, w.Func)})
	}
	for _, c := range v.From {
		diagnostic.Related = append(diagnostic.Related, analysis.RelatedInformation{Pos: at, Message: fmt.Sprintf("called by %s at %s", c.Func, c.At)})
	}
	if fix := takeLock(pass, at, g, d, v); fix != nil {
		diagnostic.SuggestedFixes = []analysis.SuggestedFix{*fix}
	}
	pass.Report(diagnostic)
}

// position is where something stands in the files of the pass.
func position(pass *analysis.Pass, at token.Position) token.Pos {
	for _, file := range pass.Files {
		f := pass.Fset.File(file.FileStart)
		if f.Name() == at.Filename && at.Line <= f.LineCount() {
			return f.LineStart(at.Line) + token.Pos(at.Column-1)
		}
	}
	return token.NoPos
}
