package alias

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// lookedAt are functions of which the bodies do not show it, with the reason why they forget the slice.
var lookedAt = map[string]string{
	"sort.SearchInts":      searches,
	"sort.SearchFloat64s":  searches,
	"sort.SearchStrings":   searches,
	"bytes.Split":          splits,
	"bytes.SplitN":         splits,
	"bytes.SplitAfter":     splits,
	"bytes.SplitAfterN":    splits,
	"bytes.Fields":         splits,
	"bytes.FieldsFunc":     splits,
	"bytes.ToUpperSpecial": mapsIt,
	"bytes.ToLowerSpecial": mapsIt,
	"bytes.ToTitleSpecial": mapsIt,
	"encoding/hex.Dump":    "it is written to a dumper that the function has made",
}

const (
	searches = "a literal that is called by the function uses it"
	splits   = "its parts are elements of the result, which is followed"
	mapsIt   = "a literal that is called by the function uses the mapping"
)

// TestLibraryForgetsSlices: the functions of the standard library that are taken to forget the slices they are given do so, as far
// as their bodies show it. What they call without naming it, and assembly, is not followed.
func TestLibraryForgetsSlices(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, "bytes", "encoding/hex", "math/bits", "slices", "sort", "strconv", "unicode/utf16", "unicode/utf8")
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := ssautil.AllPackages(pkgs, ssa.InstantiateGenerics)
	prog.Build()
	f := newFinder(&Program{
		KeyOf:    func(v *types.Var) string { return v.String() },
		IsStable: func(ssa.Value) bool { return false },
		IsQuiet:  func(ssa.CallInstruction) bool { return true }, // what has no body is assembly
	})
	looked := 0
	for _, p := range pkgs {
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			o, ok := scope.Lookup(name).(*types.Func)
			if !ok || !o.Exported() {
				continue
			}
			fn := prog.FuncValue(o)
			for i, param := range fn.Params {
				var others []types.Type
				for j, other := range fn.Params {
					if j != i {
						others = append(others, other.Type())
					}
				}
				if !isSliceOfAnyKind(param.Type()) || mayKeep(o.Signature().Results(), others) {
					continue
				}
				looked++
				f.summaryOf(param)
			}
		}
	}
	for f.again = true; f.again; {
		f.again = false
		f.summariseAll()
	}
	for p, s := range f.summaries {
		if o, ok := p.Parent().Object().(*types.Func); ok && o.Exported() && s.escapes != "" && lookedAt[o.FullName()] == "" {
			t.Errorf("%s: %s: %s", o.FullName(), p.Name(), s.escapes)
		}
	}
	if looked < 60 {
		t.Errorf("only %d parameters were looked at", looked)
	}
	t.Logf("%d parameters", looked)
}

// isSliceOfAnyKind reports whether a type is that of slices, be it a type parameter.
func isSliceOfAnyKind(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		u, ok := p.Constraint().Underlying().(*types.Interface)
		for i := 0; ok && i < u.NumEmbeddeds(); i++ {
			if union, ok := u.EmbeddedType(i).(*types.Union); ok && union.Len() == 1 && isSlice(union.Term(0).Type()) {
				return true
			}
		}
		return false
	}
	return isSlice(t)
}
