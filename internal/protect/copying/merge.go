package copying

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Merge is what becomes of a part of a variable that both a section and careless code have
// changed, as package tolerate calls it. What a section has written is never given up for a
// careless value.
type Merge string

// The merges that can be told from how sections change a variable.
const (
	Keeping   Merge = "ours"
	Adding    Merge = "delta"
	Raising   Merge = "max"
	Lowering  Merge = "min"
	Appending Merge = "append"
)

// MergeOf returns the merge of changes that are all of one kind.
func MergeOf(u facts.Update) Merge {
	switch u {
	case facts.Adds:
		return Adding
	case facts.Raises:
		return Raising
	case facts.Lowers:
		return Lowering
	case facts.Appends:
		return Appending
	}
	return Keeping
}

// Uniting is for maps whose sections and careless code change different keys. It has to compare
// all entries, so it is only done where it is asked for.
const Uniting Merge = "union"

// Merges are those that can be asked for, by a comment on the declaration:
//
//	total int //cofferdam:resolve delta
//
// The name of a function of the package can be asked for as well:
//
//	state State //cofferdam:resolve later
//
//	func later(theirs, ours, before State) State
var Merges = []Merge{Keeping, "theirs", Adding, Raising, Lowering, Appending, Uniting, "refuse"}

// UnfitMerge returns why a variable cannot have what its comment asks for.
func UnfitMerge(d facts.Declaration) string {
	v := d.Package.TypesInfo.Defs[d.Name].(*types.Var)
	if slices.Contains(Merges, Merge(d.Asked)) {
		if Merge(d.Asked) == Uniting && !facts.IsMap(v.Type()) {
			return "that is for maps, and this is a " + v.Type().String()
		}
		return ""
	}
	fn, ok := d.Package.Types.Scope().Lookup(d.Asked).(*types.Func)
	if !ok {
		return fmt.Sprintf("there is no such way to merge two changes, and no such function in the package; give one of %v, or a function", Merges)
	}
	one := types.NewParam(0, nil, "", v.Type())
	want := types.NewSignatureType(nil, nil, nil, types.NewTuple(one, one, one), types.NewTuple(one), false)
	if !types.Identical(fn.Signature(), want) {
		return fmt.Sprintf("the function has to be %s(theirs, ours, before T) T, where T is %s", d.Asked, types.TypeString(v.Type(), types.RelativeTo(d.Package.Types)))
	}
	return ""
}
