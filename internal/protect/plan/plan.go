package plan

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/batch"
	"github.com/cofferdam-go/cofferdam/internal/protect/called"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
	"github.com/cofferdam-go/cofferdam/internal/protect/summary"
	"github.com/cofferdam-go/cofferdam/internal/protect/use"
	"github.com/cofferdam-go/cofferdam/internal/source"
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
	// Exact is Tolerate where code without the lock says what it does.
	Exact Mode = "exact"
	// Detect only compares.
	Detect Mode = "detect"
)

// Modes are all of them.
var Modes = []Mode{Auto, Isolate, Tolerate, Exact, Detect}

// Options say how to protect.
type Options struct {
	Mode Mode
	// Maps asks for copies of the entries of maps.
	Maps bool
	// Least is the confidence that a guard must have.
	Least float64
	// Unprotected is why pages cannot be protected where the program will run, ""
	// if they can.
	Unprotected string
	// Tests says that the tests of the packages are what will run.
	Tests bool
	// Alone are places in functions that are left as they are.
	Alone []Alone
	// Only and Skip choose what is protected, of all that could be.
	Only, Skip []rule.Rule
}

// Alone is a line of a function that is left as it is, with the reason.
type Alone struct {
	File string
	Line int
	Why  string
}

// A Plan is how a program is protected. It is data alone: package write makes texts of it,
// and decides nothing.
type Plan struct {
	Options
	// Packages are those that can have new texts.
	Packages []*Package
	// OnPages are the variables and fields that live on pages.
	OnPages []*PageDatum
	// Guards are the locks with what they guard.
	Guards []*guard.Guard
	// Sections are where locks are taken that guard something, with what becomes of
	// them.
	Sections []Section

	facts       *facts.Facts
	names       *called.Names
	notIsolated map[facts.Key]string
}

// A Package is one package of the program.
type Package struct {
	*packages.Package
	Files []*File
	// Clones are the functions that are cloned. One that another calls comes first.
	Clones []*Clone

	behindWickets []*PageDatum // fields of its types
}

// A File can have a new text.
type File struct {
	*source.File
	// Index is the number of the file in its package.
	Index int
	// Entry is the function that the program begins in, main or TestMain, if it is in
	// this file.
	Entry *ast.FuncDecl
	// Groups are the sections that are rewritten.
	Groups []*Group
	// Sites are the uses of data on pages that are not in sections.
	Sites []Site
	// Additions are what is added without a lock to variables that sections have copies of.
	Additions []use.Addition
	// Visits are the uses, outside of sections, of variables that sections have exact copies of.
	Visits []use.Visit
}

// A Group is the sections of one lock that have their copies in common, and what becomes
// of them.
type Group struct {
	*outline.Outline
	// LockName is what the table calls the lock.
	LockName string
	Vars     []*Variable
	Slots    []*Slot
	// Batches are the copies of what the sections find on their way.
	Batches []*Batch
	Steps   []*StepPlan
	// Rescues says that a deferred call publishes the copies and leaves the guards if a section ends by a
	// panic, which may be recovered from.
	Rescues bool
	// Stranded says that a section would stay in guards by a panic, where no call can be deferred as the section begins.
	// The function defers one at the beginning of its body, and after each of the calls that it defers itself.
	Stranded bool
	Body     *ast.BlockStmt
	Defers   []*ast.DeferStmt
	// OnlyReaches says that the sections never enter a guard or have a copy: they use
	// data on pages in statements that must find the guards left.
	OnlyReaches bool
	// Flagged says that it depends on the way through the section whether there are
	// copies where they are published or taken, so that a local variable has to say it.
	Flagged bool
	// Relents says that some step does.
	Relents bool

	early int // how many loads there are ahead of steps
	left  []leftOut
	found *batch.Section // what they find on their way, nil if there are no copies of it
}

// A leftOut is guarded data that a group leaves as it is.
type leftOut struct {
	datum string
	why   string
}

func (g *Group) leaveOut(datum, why string) { g.left = append(g.left, leftOut{datum, why}) }

// A StepPlan is what becomes of a step.
type StepPlan struct {
	*outline.Step
	// Opaque is why the step must find all published, and works on what is shared. It
	// is "" for a step that works on the copies.
	Opaque string
	// Interrupts says that the section is interrupted for the step: copies are
	// published and guards left before it.
	Interrupts bool
	// Relents says that guards for writing are not left for the step, which is not known to
	// wait: careless code passes if it does.
	Relents bool
	// Early are the loads from pages ahead of a step that the section is interrupted for, and NeedsCopies says that such a step
	// loads something early, so that the section has to have gone on before it.
	Early       []EarlyLoad
	NeedsCopies bool
	// Resumes says that the section goes on after the step.
	Resumes bool
	// Redirects are the expressions that are written in another way, and Calls the
	// calls that become calls of clones.
	Redirects []Redirect
	Calls     []ClonedCall
	// SlotUses has for each slot of the group what the step has to do with it.
	SlotUses []SlotUse
	// BatchUses has for each batch of the group what the step has to do with it, and Assignments are those that have to be written in
	// another way for it.
	BatchUses   []batch.Use
	Assignments []batch.Assignment
	// MapCopies are the variables whose maps have to be copied before the step.
	MapCopies []int
}

// A Redirect has an expression use a variable's copy, or its place on pages.
type Redirect struct {
	Node ast.Expr
	Var  int         // of those of the group, the clone or the slot
	Rest facts.Place // the fields beyond the variable
}

// What becomes of sections is told by package summary.
type (
	Section = summary.Section
	Gap     = summary.Gap
	Left    = summary.Left
)

// summarised is the plan as the table has it.
func (p *Plan) summarised() *summary.Program {
	return &summary.Program{
		Mode: string(p.Mode), Guards: p.Guards, Sections: p.Sections, Unprotected: p.Unprotected,
		KeyOf: p.facts.KeyOf, LockName: p.names.OfLock, DatumName: p.names.OfDatum,
		NotIsolated: func(v *types.Var) string { return p.notIsolated[p.facts.KeyOf(v)] },
		Open: func(v *types.Var) string {
			for _, o := range p.OnPages {
				if o.Key == p.facts.KeyOf(v) {
					return o.Open
				}
			}
			return ""
		},
	}
}

// String is the table that a protected program prints when it starts.
func (p *Plan) String() string { return p.summarised().String() }

// GapList lists all gaps with their lines and reasons, and the sections that are left alone.
func (p *Plan) GapList() string { return p.summarised().GapList() }

// Make plans the protection of packages.
func Make(pkgs []*packages.Package, known *facts.Facts, guards *guard.Guards, o Options) (*Plan, error) {
	p := newPlanner(known, guards, o)
	if err := p.checkAsked(); err != nil {
		return nil, err
	}
	for _, pkg := range Variants(pkgs) {
		u, err := newUnit(p, pkg)
		if err != nil {
			return nil, err
		}
		p.units = append(p.units, u)
	}
	for _, u := range p.units {
		u.noteAllUnfollowed()
	}
	strong := p.withCompanions(guards.AtLeast(o.Least))
	p.strong = strong
	pages, out := p.decideBehindWickets(p.candidates(strong))
	if o.Mode == Auto {
		if slow := out.slow(); len(slow) > 0 {
			pages, out = p.decideBehindWickets(pages.without(slow))
		}
	}
	return &Plan{
		Options: o, Packages: out.packages, OnPages: pages.list, Guards: strong, Sections: out.sections,
		facts: known, names: p.names, notIsolated: pages.why,
	}, nil
}

// Variants returns each package once: of those that are the same but for test files, the
// one with most files.
func Variants(pkgs []*packages.Package) []*packages.Package {
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

// A planner plans for one program.
type planner struct {
	Options
	facts  *facts.Facts
	guards *guard.Guards
	names  *called.Names
	units  []*unit
	// helpers are functions that return with a lock that they have taken.
	helpers map[facts.FuncKey]*types.Var
	// givenLocks are the numbers of the parameters, of functions that take locks which they are given.
	givenLocks map[facts.FuncKey][]int
	// strong are the guards that count, with their companions, which are known by their fields.
	strong     []*guard.Guard
	companions map[facts.Key]companion
	// open is the code that uses guarded data outside of sections that are followed.
	open map[facts.Key]*openCode
}

func newPlanner(known *facts.Facts, guards *guard.Guards, o Options) *planner {
	return &planner{Options: o, facts: known, guards: guards, names: called.New(known, guards.List), helpers: make(map[facts.FuncKey]*types.Var), givenLocks: make(map[facts.FuncKey][]int), open: make(map[facts.Key]*openCode), companions: make(map[facts.Key]companion)}
}

// A unit is one package with its sections as they stand in the source.
type unit struct {
	*planner
	pkg   *packages.Package
	info  *types.Info
	sizes types.Sizes
	files []*source.File
	index []int // of the files among those of the package

	bodies     []*body // with sections
	all        []*body
	functions  map[facts.FuncKey]function
	statements map[*ast.FuncDecl]*facts.Statement
}

// A function with the file that it stands in.
type function struct {
	*ast.FuncDecl
	file int
}

// A body is the body of a function or of a function literal, without those of the
// literals inside it.
type body struct {
	file     int
	block    *ast.BlockStmt
	outlines []*outline.Outline
	alone    []aloneSection
}

// An aloneSection is left as it is, as a whole.
type aloneSection struct {
	Section
	lock *types.Var
}

// statement returns what a function's body does.
func (u *unit) statement(d function) *facts.Statement {
	s := u.statements[d.FuncDecl]
	if s == nil {
		s = u.facts.Statement(u.pkg, d.Body, []facts.Span{facts.SpanOf(d.Body)}, d.Body)
		u.statements[d.FuncDecl] = s
	}
	return s
}

func (u *unit) line(p token.Pos) int { return u.facts.Line(p) }
