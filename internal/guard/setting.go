package guard

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A setting is a value that a field of type bool has, which stays as it is from when the object is made.
type setting struct {
	field *types.Var
	on    bool
}

// isLeftAloneBySetting reports whether a read is made only of objects with a setting with which nothing
// writes the data: all writes are of objects with the other one.
//
//	if s.lazy {                    an option of NewScript
//		s.mu.Lock()
//		s.sum = load(s.text)
//		s.mu.Unlock()
//	} else {
//		use(s.sum)                 nothing writes it here
//	}
func (c *chooser) isLeftAloneBySetting(v *subject, read lockset.Observation) bool {
	return slices.ContainsFunc(c.settingsAt(read), func(with setting) bool {
		without := setting{with.field, !with.on}
		return !slices.ContainsFunc(v.sites, func(s *lockset.Site) bool {
			return slices.ContainsFunc(s.Observations, func(o lockset.Observation) bool {
				return o.Kind == Write && !makesObject(o) && !slices.Contains(c.settingsAt(o), without)
			})
		})
	})
}

// settingsAt returns the settings that the object of an access must have for control to come there.
func (c *chooser) settingsAt(o lockset.Observation) []setting {
	if o.Base == nil || o.Base.Depth() > 0 {
		return nil
	}
	var all []setting
	for _, i := range instructions(o.Instr.Parent()) {
		field, load := boolOf(i, o.Base.Root())
		if field == nil {
			continue
		}
		for _, on := range []bool{true, false} {
			if dominates(branchesIf(load, on), o.Instr) && c.isSetWhileMade(field) {
				all = append(all, setting{field, on})
			}
		}
	}
	return all
}

// boolOf returns the field of an object that an instruction loads, if that is true or false.
func boolOf(i ssa.Instruction, object any) (*types.Var, ssa.Value) {
	load, ok := i.(*ssa.UnOp)
	if !ok || load.Op != token.MUL || !types.Identical(load.Type().Underlying(), types.Typ[types.Bool]) {
		return nil, nil
	}
	at, ok := load.X.(*ssa.FieldAddr)
	if !ok || any(at.X) != object {
		return nil, nil
	}
	return at.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(at.Field).Origin(), load
}

// dominates reports whether control comes to an instruction only through one of some blocks.
func dominates(blocks []*ssa.BasicBlock, i ssa.Instruction) bool {
	return slices.ContainsFunc(blocks, func(b *ssa.BasicBlock) bool { return b.Dominates(i.Block()) })
}

// isSetWhileMade reports whether a field is written only while its object is made, also by functions that are
// given for that.
//
//	func Lazy(on bool) Option { return func(s *Script) { s.lazy = on } }
func (c *chooser) isSetWhileMade(field *types.Var) bool {
	i := slices.IndexFunc(c.subjects, func(v *subject) bool { return v.Object == field })
	if i < 0 || field.Exported() {
		return false // users may set it whenever they like
	}
	for _, s := range c.subjects[i].sites {
		for _, o := range s.Observations {
			if o.Kind == Write && !makesObject(o) && !isGivenOption(o) {
				return false
			}
		}
	}
	return true
}

// isGivenOption reports whether a write is made by a function literal that does nothing but to set what it is given.
func isGivenOption(o lockset.Observation) bool {
	fn := o.Instr.Parent()
	if fn.Parent() == nil || len(fn.Params) != 1 || len(fn.Blocks) != 1 || o.Base == nil || any(o.Base.Root()) != any(fn.Params[0]) {
		return false
	}
	for result := range fn.Parent().Signature.Results().Variables() {
		if types.Identical(result.Type().Underlying(), fn.Signature) {
			return true
		}
	}
	return false
}
