package source

import (
	"go/types"
	"slices"
)

// Spell writes a type as the file can, with the imports it has. It reports whether the file
// can write it at all.
func (f *File) Spell(t types.Type) (text string, ok bool) {
	ok = true
	text = types.TypeString(t, func(p *types.Package) string {
		if p.Path() == f.Types.Path() {
			return ""
		}
		name, imported := f.ImportedAs(p.Path(), p.Name())
		if !imported {
			ok = false
			return p.Name()
		}
		return name
	})
	return text, ok && Spellable(t, f.Types.Path())
}

// Spellable reports whether a package, by its path, can write a type: it is not declared inside a
// function, and not hidden in another package.
func Spellable(t types.Type, pkg string) bool { return spellable(t, pkg, nil) }

func spellable(t types.Type, pkg string, seen []types.Type) bool {
	if slices.Contains(seen, t) {
		return true
	}
	seen = append(seen, t)
	switch t := t.(type) {
	case *types.Alias:
		return inScope(t.Obj(), pkg)
	case *types.Named:
		if args := t.TypeArgs(); args != nil {
			for a := range args.Types() {
				if !spellable(a, pkg, seen) {
					return false
				}
			}
		}
		return inScope(t.Obj(), pkg)
	case *types.Basic, *types.TypeParam:
		return true
	case *types.Struct:
		for f := range t.Fields() {
			if !spellable(f.Type(), pkg, seen) || !f.Exported() && f.Pkg().Path() != pkg {
				return false
			}
		}
		return true
	case *types.Pointer:
		return spellable(t.Elem(), pkg, seen)
	case *types.Slice:
		return spellable(t.Elem(), pkg, seen)
	case *types.Map:
		return spellable(t.Key(), pkg, seen) && spellable(t.Elem(), pkg, seen)
	case *types.Chan:
		return spellable(t.Elem(), pkg, seen)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				if !spellable(v.Type(), pkg, seen) {
					return false
				}
			}
		}
		return true
	case *types.Interface:
		return t.NumMethods() == 0 && t.NumEmbeddeds() == 0
	}
	return false
}

func inScope(o *types.TypeName, pkg string) bool {
	if o.Pkg() == nil {
		return true // error
	}
	return o.Parent() == o.Pkg().Scope() && (o.Pkg().Path() == pkg || o.Exported())
}
