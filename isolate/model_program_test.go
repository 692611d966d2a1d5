package isolate_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of the model. They size the arrays of modelState, which is a map key
// and therefore holds no slices.
const (
	modelMaxThreads = 3
	modelMaxLocks   = 2
	modelMaxVars    = 4
	modelMaxRegs    = 3
)

// A modelProgram is the paper's triple of shared variables, locks and threads,
// together with the locking discipline.
type modelProgram struct {
	name    string
	locks   []string
	vars    []string
	initial [modelMaxVars]int8
	guardOf [modelMaxVars]int8 // LD: the lock that guards a variable
	guarded [][]int8           // InvLD: the variables that a lock guards
	threads []modelThread
}

// A modelThread is straight-line code with forward jumps. The paper's set W
// holds whole threads; here a thread is careful lock by lock, because in a Go
// program one goroutine may well keep to one guard and break another.
type modelThread struct {
	careful  [modelMaxLocks]bool
	careless bool // about every lock
	code     []modelInstruction
	source   string
}

type modelOpcode uint8

const (
	modelAcquire modelOpcode = iota
	modelRelease
	modelRead
	modelWrite
	modelSum // Op; addition is all the programs here need
	modelJmpZ
)

type modelInstruction struct {
	op     modelOpcode
	lock   int8 // Acquire, Release; for Read and Write, the lock that guards the variable
	shared int8 // Read, Write
	reg    int8 // Read, Sum: destination; JmpZ: condition
	args   []modelOperand
	target int8 // JmpZ
	text   string
}

func (in *modelInstruction) accesses() bool { return in.op == modelRead || in.op == modelWrite }

// A modelOperand is a register, or a constant if reg is negative.
type modelOperand struct{ reg, constant int8 }

// modelParse reads a program. The discipline lists the variables that each lock
// guards, with initial values other than zero: "A: x y=1; B: a". A thread is a
// header, "careful", "careless" or "careful A" (about A alone), and code:
//
//	acquire A; release A; r0 = x; x = r0; x = 5; r0 = r0 + 1; jmpz r0 +2
//
// where jmpz jumps that many instructions ahead.
func modelParse(name, discipline string, threads ...string) *modelProgram {
	p := &modelProgram{name: name}
	for guard := range strings.SplitSeq(discipline, ";") {
		lock, vars, _ := strings.Cut(strings.TrimSpace(guard), ":")
		p.guarded = append(p.guarded, nil)
		for _, decl := range strings.Fields(vars) {
			v, initial, _ := strings.Cut(decl+"=0", "=")
			g := int8(len(p.vars))
			p.guardOf[g] = int8(len(p.locks))
			p.guarded[len(p.locks)] = append(p.guarded[len(p.locks)], g)
			p.initial[g] = modelNumber(strings.TrimSuffix(initial, "=0"))
			p.vars = append(p.vars, v)
		}
		p.locks = append(p.locks, lock)
	}
	for _, source := range threads {
		header, body, _ := strings.Cut(source, ":")
		words := strings.Fields(header)
		th := modelThread{source: source, careless: words[0] == "careless"}
		for l, lock := range p.locks {
			th.careful[l] = !th.careless && (len(words) == 1 || slices.Contains(words[1:], lock))
		}
		for text := range strings.SplitSeq(body, ";") {
			th.code = append(th.code, p.parse(strings.TrimSpace(text), int8(len(th.code))))
		}
		p.threads = append(p.threads, th)
	}
	return p
}

func (p *modelProgram) parse(text string, pc int8) modelInstruction {
	in := modelInstruction{text: text}
	f := strings.Fields(text)
	variable := func(name string) bool {
		in.shared = int8(slices.Index(p.vars, name))
		if in.shared >= 0 {
			in.lock = p.guardOf[in.shared]
		}
		return in.shared >= 0
	}
	switch {
	case f[0] == "acquire":
		in.op, in.lock = modelAcquire, int8(slices.Index(p.locks, f[1]))
	case f[0] == "release":
		in.op, in.lock = modelRelease, int8(slices.Index(p.locks, f[1]))
	case f[0] == "jmpz":
		in.op, in.reg, in.target = modelJmpZ, modelArgument(f[1]).reg, pc+modelNumber(f[2])
	case variable(f[0]):
		in.op, in.args = modelWrite, []modelOperand{modelArgument(f[2])}
	case len(f) == 3 && variable(f[2]):
		in.op, in.reg = modelRead, modelArgument(f[0]).reg
	default:
		in.op, in.reg = modelSum, modelArgument(f[0]).reg
		for i := 2; i < len(f); i += 2 {
			in.args = append(in.args, modelArgument(f[i]))
		}
	}
	return in
}

func modelArgument(s string) modelOperand {
	if number, ok := strings.CutPrefix(s, "r"); ok {
		return modelOperand{reg: modelNumber(number)}
	}
	return modelOperand{reg: -1, constant: modelNumber(s)}
}

func modelNumber(s string) int8 {
	n, err := strconv.ParseInt(s, 10, 8)
	if err != nil {
		panic(fmt.Sprintf("model: %v", err))
	}
	return int8(n)
}

func (p *modelProgram) careful(t int, lock int8) bool { return p.threads[t].careful[lock] }

func (p *modelProgram) String() string {
	text := p.name
	for t, th := range p.threads {
		text += fmt.Sprintf("\n\tT%d %s", t+1, th.source)
	}
	return text
}

// modelClassics are the programs of the paper's figures and one program for
// each way of being careless.
func modelClassics() []*modelProgram {
	const increment = "r0 = x; r0 = r0 + 1; x = r0"
	return []*modelProgram{
		modelParse("counter", "A: x",
			"careful: acquire A; "+increment+"; release A",
			"careless: "+increment),
		modelParse("two careful counters and a careless reader", "A: x",
			"careful: acquire A; "+increment+"; release A",
			"careful: acquire A; "+increment+"; release A",
			"careless: r0 = x; r1 = x"),
		modelFigure1(),
		modelParse("two variables, one lock", "A: x y",
			"careful: acquire A; x = 1; y = 1; release A",
			"careless: r0 = x; r1 = y; x = 7"),
		modelParse("nested sections", "A: x; B: y",
			"careful: acquire A; acquire B; x = 1; r0 = y; y = 2; release B; release A",
			"careless: r0 = y; x = 5; r1 = x; y = 6"),
		modelParse("overlapping sections", "A: x; B: y",
			"careful: acquire A; x = 1; acquire B; release A; y = 1; release B",
			"careless: r0 = y; x = 5; y = 6"),
		modelFigure5(),
		modelFigure6(),
		modelParse("careless thread that takes the lock", "A: x y",
			"careful: acquire A; x = 1; release A; acquire A; r0 = x; r1 = y; release A",
			"careless: r0 = x; acquire A; x = 2; y = 3; release A; r1 = x"),
		modelParse("careless thread that takes the wrong lock", "A: x; B: y",
			"careful: acquire A; r0 = x; r1 = x; release A",
			"careless: acquire B; x = 4; y = 4; release B"),
		modelParse("careless thread that releases what it does not hold", "A: x",
			"careful: acquire A; x = 1; x = 2; release A",
			"careless: r0 = x; release A; x = 9"),
		modelParse("branches", "A: x; B: y",
			"careful: acquire A; r0 = x; jmpz r0 +3; acquire B; y = r0; release A",
			"careless: r0 = y; jmpz r0 +2; x = 3; x = 4; r1 = y"),
		modelParse("two careless threads", "A: x y",
			"careful: acquire A; x = 1; y = 1; release A; acquire A; r0 = x; release A",
			"careless: r0 = y; x = 5",
			"careless: r0 = x; y = 6"),
		modelParse("two careful threads", "A: x; B: y",
			"careful: acquire A; x = 1; release A; acquire B; r0 = y; release B",
			"careful: acquire B; y = 1; release B; acquire A; r0 = x; release A",
			"careless: x = 2; y = 2"),
		modelParse("careful about one lock only", "A: x; B: y",
			"careful A: acquire A; r0 = x; y = 1; r1 = x; release A",
			"careful B: acquire B; r0 = y; x = 1; r1 = y; release B"),
		modelParse("section that never ends", "A: x",
			"careful: r0 = 1; acquire A; x = r0",
			"careless: r0 = x; r1 = x"),
		modelCarelessSection(),
	}
}

// modelFigure1 returns figure 1: a careful thread tests the list and then
// follows it; a careless one empties it in between.
func modelFigure1() *modelProgram {
	return modelParse("figure 1", "A: list=1",
		"careful: acquire A; r0 = list; jmpz r0 +2; r1 = list; release A",
		"careless: list = 0")
}

func modelFigure5() *modelProgram {
	return modelParse("figure 5", "A: x y; B: a b",
		"careful: acquire A; acquire B; r2 = a; b = r2; release B; r1 = x; release A; acquire A; y = r1; release A",
		"careless: x = 5; a = 10")
}

// modelFigure6 returns figure 6, carried on to the end of its sections.
func modelFigure6() *modelProgram {
	return modelParse("figure 6", "A: g1; B: g2",
		"careful: acquire A; g1 = 1; acquire B; release B; release A",
		"careless: acquire B; r0 = g2; g1 = 2; release B")
}

// modelCarelessSection returns the program on which figure 3 is stricter than
// figure 2: the second thread holds A, which guards x, but is not careful; the
// third reads x meanwhile, holding the lock that the second one wants next.
func modelCarelessSection() *modelProgram {
	return modelParse("careless section", "A: x; B: y",
		"careful: acquire A; x = 1; release A",
		"careless: acquire A; acquire B; release B; release A",
		"careless: acquire B; r0 = x; release B")
}

// modelBodies returns every code of n instructions over x, guarded by A, and y,
// guarded by the last of the locks. Histories are closed under prefixes, and a
// thread need not run to its end, so these cover the shorter codes too. No code
// acquires what it holds or releases what it does not, which would only block
// it for good. Careful code touches a variable only with its lock held;
// careless code touches what it likes, and branches besides. Values written
// tell who wrote them: base plus the position.
func modelBodies(locks []string, careful bool, n, base int) []string {
	guard := map[string]string{"x": "A", "y": locks[len(locks)-1]}
	var bodies []string
	var extend func(code, held []string)
	extend = func(code, held []string) {
		if len(code) == n {
			bodies = append(bodies, strings.Join(code, "; "))
			return
		}
		add := func(text string, held []string) { extend(append(slices.Clip(code), text), held) }
		for _, l := range locks {
			if i := slices.Index(held, l); i < 0 {
				add("acquire "+l, append(slices.Clip(held), l))
			} else {
				add("release "+l, slices.Delete(slices.Clone(held), i, i+1))
			}
		}
		for _, v := range []string{"x", "y"} {
			if !careful || slices.Contains(held, guard[v]) {
				add(fmt.Sprintf("r%d = %s", len(code)%modelMaxRegs, v), held)
				add(fmt.Sprintf("%s = %d", v, base+len(code)), held)
			}
		}
		if !careful && 0 < len(code) && len(code) < n-1 {
			add("jmpz r0 +2", held)
		}
	}
	extend(nil, nil)
	return bodies
}

// modelGenerate visits all programs of careful and careless threads of the
// given numbers of instructions, with one lock for x and y and with one for
// each. Of two programs that differ only in exchanging the names x and y, and A
// and B, it visits one.
func modelGenerate(careful, careless []int, visit func(*modelProgram)) {
	for _, locks := range [][]string{{"A"}, {"A", "B"}} {
		discipline := "A: x y"
		if len(locks) > 1 {
			discipline = "A: x; B: y"
		}
		var extend func(threads []string)
		extend = func(threads []string) {
			i := len(threads)
			if i == len(careful)+len(careless) {
				visit(modelParse("generated, "+discipline, discipline, threads...))
				return
			}
			header := "careful: "
			if i >= len(careful) {
				header = "careless: "
			}
			for _, body := range modelBodies(locks, i < len(careful), slices.Concat(careful, careless)[i], 10*i+1) {
				v := strings.IndexAny(body, "xy")
				mirrored := strings.HasPrefix(body, "acquire B") || len(locks) == 1 && v >= 0 && body[v] == 'y'
				if i > 0 || !mirrored {
					extend(append(slices.Clip(threads), header+body))
				}
			}
		}
		extend(nil)
	}
}
