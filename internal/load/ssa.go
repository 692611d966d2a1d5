package load

import (
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// SSA builds the SSA form of packages that Packages returned. Functions of what
// they import have no bodies.
func SSA(all []*packages.Package) (*ssa.Program, []*ssa.Package) {
	prog, built := ssautil.Packages(all, ssa.InstantiateGenerics|ssa.GlobalDebug)
	prog.Build()
	return prog, built
}
