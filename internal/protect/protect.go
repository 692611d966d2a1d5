package protect

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// A Mode is how data is protected.
type Mode string

const (
	// Auto is the strongest that fits: Isolate for data that can live on pages,
	// Tolerate for the rest.
	Auto Mode = "auto"
	// Isolate puts data on pages that only the lock's holder can reach.
	Isolate Mode = "isolate"
	// Tolerate has sections work on private copies.
	Tolerate Mode = "tolerate"
	// Detect only compares.
	Detect Mode = "detect"
)

// Modes are all of them.
var Modes = []Mode{Auto, Isolate, Tolerate, Detect}

// A Plan is how the packages of a program are protected.
type Plan struct {
	Config
	// Files have new texts.
	Files map[string]Rewritten
	// Sections are where locks are taken that guard something.
	Sections []Section
	// Guards are the locks with what they guard.
	Guards []*guard.Guard
	// Old are packages that are written in versions of Go that cannot call the
	// hooks, and have to be compiled as a later one.
	Old []string

	isolation *isolation
	fset      *token.FileSet
}

// A Rewritten file.
type Rewritten struct {
	Package *packages.Package
	Text    string
}

// Rewrite plans the protection of packages that load.Packages returned.
func Rewrite(pkgs []*packages.Package, c Config) (*Plan, error) {
	if c.Mode == Isolate && c.Unprotected != "" {
		return nil, fmt.Errorf("nothing can be isolated: %s; use -protect=tolerate", c.Unprotected)
	}
	guards := guard.Infer(pkgs)
	borrowers := findBorrowers(pkgs)
	prog := &program{
		Config: c, guards: guards, borrowers: borrowers,
		effects: findEffects(pkgs), exposed: findExposed(pkgs, borrowers), assigned: findAssigned(pkgs), aliased: findAliased(pkgs),
	}
	plan := &Plan{Config: c, Files: make(map[string]Rewritten), Guards: guards.AtLeast(c.Least)}
	prog.isolation = findIsolated(pkgs, plan.toIsolate(), guards.Program, prog.exposed)
	if c.Mode == Auto && len(prog.isolation.list) > 0 {
		// What comes of isolation is known when all is rewritten.
		trial := &Plan{Config: c, Files: make(map[string]Rewritten)}
		if err := trial.rewriteAll(prog, pkgs); err != nil {
			return nil, err
		}
		prog.isolation = prog.isolation.withoutSlow()
	}
	plan.isolation, plan.fset = prog.isolation, guards.Fset
	return plan, plan.rewriteAll(prog, pkgs)
}

func (plan *Plan) rewriteAll(prog *program, pkgs []*packages.Package) error {
	for _, p := range variants(pkgs) {
		if err := plan.rewrite(prog, p); err != nil {
			return err
		}
	}
	return nil
}

// variants returns each package once: of those that are the same but for test
// files, the one with most files.
func variants(pkgs []*packages.Package) []*packages.Package {
	best := make(map[string]*packages.Package)
	var order []string
	for _, p := range pkgs {
		if strings.HasSuffix(p.ID, ".test") && p.Name == "main" && p.ForTest == "" {
			continue // what go test makes to run tests
		}
		old := best[p.PkgPath]
		if old == nil {
			order = append(order, p.PkgPath)
		}
		if old == nil || len(p.Syntax) > len(old.Syntax) {
			best[p.PkgPath] = p
		}
	}
	var all []*packages.Package
	for _, path := range order {
		all = append(all, best[path])
	}
	return all
}

func (plan *Plan) rewrite(prog *program, p *packages.Package) error {
	u := &unit{
		program: prog, pkg: p, fset: p.Fset, info: p.TypesInfo, sizes: p.TypesSizes, names: unusedNames(p.Syntax),
		decls: make(map[funcKey]declared), clones: make(map[string]*clone), bodies: make(map[*ast.FuncDecl]*part),
		unsure: make(map[ast.Node]bool), cloned: make(map[*ast.CallExpr]bool),
	}
	for i, syntax := range p.Syntax {
		tok := p.Fset.File(syntax.FileStart)
		if !slices.Contains(p.GoFiles, tok.Name()) || usesC(syntax) {
			continue // cgo makes another file of it
		}
		source, err := os.ReadFile(tok.Name())
		if err != nil {
			return err
		}
		if len(source) != tok.Size() {
			return fmt.Errorf("%s was changed while it was read: try again", tok.Name())
		}
		f := &file{unit: u, syntax: syntax, source: source, tok: tok, prefix: fmt.Sprintf("%s%d", u.names, i), redirected: make(map[ast.Expr]*slot)}
		u.files = append(u.files, f)
		f.declare()
	}
	for _, f := range u.files {
		f.collect()
	}
	u.putAside()
	changed := false
	for _, f := range u.files {
		if text, ok := f.render(); ok {
			plan.Files[f.tok.Name()] = Rewritten{p, text}
			changed = true
		}
	}
	plan.Sections = append(plan.Sections, u.sections...)
	if v := language(p); changed && v != "" && version.Compare(v, hooksLanguage) < 0 {
		plan.Old = append(plan.Old, p.PkgPath)
	}
	return nil
}

// hooksLanguage is the version of Go that calls of the hooks are written in. Loops mean
// something else only in later ones.
const hooksLanguage = "go1.21"

// language is the version of Go that a package is written in.
func language(p *packages.Package) string {
	switch m := p.Module; {
	case m == nil:
		return ""
	case m.GoVersion == "":
		return "go1.16" // what the go command assumes
	default:
		return "go" + m.GoVersion
	}
}

func usesC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// unusedNames returns a beginning for names that no file of a package uses.
func unusedNames(files []*ast.File) string {
	name := "cofferdam"
	for {
		taken := false
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, name) {
					taken = true
				}
				return !taken
			})
		}
		if !taken {
			return name
		}
		name = "_" + name
	}
}

// findAssigned returns the variables that are assigned to other than where they are
// declared.
func findAssigned(pkgs []*packages.Package) map[key]bool {
	all := make(map[key]bool)
	for _, p := range pkgs {
		mark := func(e ast.Expr) {
			if e == nil {
				return
			}
			var id *ast.Ident
			switch e := ast.Unparen(e).(type) {
			case *ast.Ident:
				id = e
			case *ast.SelectorExpr:
				if p.TypesInfo.Selections[e] != nil {
					return
				}
				id = e.Sel // of another package
			default:
				return
			}
			if v, ok := p.TypesInfo.Uses[id].(*types.Var); ok {
				all[keyOf(p.Fset, v)] = true
			}
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, l := range n.Lhs {
						mark(l)
					}
				case *ast.IncDecStmt:
					mark(n.X)
				case *ast.RangeStmt:
					if n.Tok == token.ASSIGN {
						mark(n.Key)
						mark(n.Value)
					}
				}
				return true
			})
		}
	}
	return all
}
