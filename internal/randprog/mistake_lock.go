package randprog

// checkAgain: a lock is released between a check and the use of what was checked.
func (g *mistakeGen) checkAgain() {
	lock := g.one("sync.Mutex", "sync.RWMutex")
	take, release := "Lock", "Unlock"
	if lock == "sync.RWMutex" && g.chance(2) {
		take, release = "RLock", "RUnlock"
	}
	first := g.one("\t<x>.<mu>."+take+"()\n\tif <x>.<flag> {\n\t\t<x>.<mu>."+release+"()\n\t\treturn false\n\t}\n\t<x>.<mu>."+release+"()\n",
		"\t<x>.<mu>."+take+"()\n\tgone := <x>.<flag>\n\t<x>.<mu>."+release+"()\n\tif gone {\n\t\treturn false\n\t}\n")
	second := g.one("\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n\t<x>.<m>[k] = v\n\treturn true\n", "\t<x>.<mu>.Lock()\n\t<x>.<m>[k] = v\n\t<x>.<mu>.Unlock()\n\treturn true\n")
	sibling := ""
	if g.chance(2) {
		sibling = "\nfunc (<x> *<T>) <D>(k string, f func(string) int) bool {\n" + first + "\tv := f(k)\n" + second + "}\n"
	}
	g.write(`
type <T> struct {
	<mu>   ` + lock + `
	<flag> bool
	<m>    map[string]int
}

func New() *<T> { return &<T>{<m>: map[string]int{}} }

func (<x> *<T>) <A>(k string, f func(string) int) bool {
` + first + `	v := f(k)
	WORK
` + second + `}
` + sibling + `
func (<x> *<T>) <C>() {
	<x>.<mu>.Lock()
	defer <x>.<mu>.Unlock()
	<x>.<flag> = true
	<x>.<m> = nil
}`)
	g.drive("\tt := New()\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<C>()\n\t\tclose(done)\n\t}()\n\tok := t.<A>(\"a\", func(s string) int { return len(s) })\n\t<-done\n\treturn show(ok)\n", "true", "false")
	g.drive("\tt := New()\n\tok := t.<A>(\"a\", func(s string) int {\n\t\tt.<C>()\n\t\treturn 1\n\t})\n\treturn show(ok)\n", "false")
	if sibling != "" {
		g.drive("\tt := New()\n\tok := t.<D>(\"a\", func(s string) int {\n\t\tt.<C>()\n\t\treturn 1\n\t})\n\treturn show(ok)\n", "false")
	}
}

// doubleLock: a method that holds a lock calls one that takes it.
func (g *mistakeGen) doubleLock() {
	parameter, argument, of := "", "", ""
	if g.chance(3) {
		parameter, argument, of = "[E any]", "[E]", "[int]"
	}
	read := g.one("\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n\treturn <x>.<n>\n", "\t<x>.<mu>.Lock()\n\tv := <x>.<n>\n\t<x>.<mu>.Unlock()\n\treturn v\n")
	add := g.one("\t<x>.<mu>.Lock()\n\t<x>.<n> += k\n\t<x>.<mu>.Unlock()\n", "\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n\tif k == 0 {\n\t\treturn\n\t}\n\t<x>.<n> += k\n", "\tif k == 0 {\n\t\treturn\n\t}\n\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n\t<x>.<n> += k\n")
	other := g.one("", "\nfunc (<x> *<T>"+argument+") steal(from *<T>"+argument+") {\n\tk := from.<B>()\n\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n\t<x>.<n> += k + from.<B>()\n}\n")
	g.write(`
type <T>` + parameter + ` struct {
	<mu> sync.Mutex
	<n>  int
}

func (<x> *<T>` + argument + `) <B>() int {
` + read + `}

func (<x> *<T>` + argument + `) <A>(k int) {
` + add + `}
` + other + `
func (<x> *<T>` + argument + `) <D>() int {
	<x>.<mu>.Lock()
	defer <x>.<mu>.Unlock()
	WORK
	` + g.one("<x>.<n> *= 2\n\treturn <x>.<B>()", "<x>.<A>(1)\n\treturn <x>.<B>()", "if <x>.<B>() > 0 {\n\t\treturn -1\n\t}\n\treturn <x>.<n>") + `
}`)
	g.drive("\tt := new(<T>"+of+")\n\tv := t.<D>()\n\treturn show(v)\n", "0", "1")
	g.drive("\tt := new(<T>"+of+")\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>(1)\n\t\tdone <- true\n\t}()\n\tt.<A>(2)\n\t<-done\n\treturn show(t.<B>())\n", "3")
	if other != "" {
		g.drive("\tt, o := new(<T>"+of+"), new(<T>"+of+")\n\to.<A>(2)\n\tt.steal(o)\n\treturn show(t.<B>())\n", "4")
	}
}

// callback: a function value is called with the lock held, and needs the lock.
func (g *mistakeGen) callback() {
	defers := g.chance(2)
	begin, end := "\t<x>.<mu>.Lock()\n", "\t<x>.<mu>.Unlock()\n"
	if defers {
		begin, end = "\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n", ""
	}
	call := g.one("\tfor _, f := range <x>.hooks {\n\t\tf(k)\n\t}\n", "\tif len(<x>.hooks) > 0 {\n\t\t<x>.hooks[0](k)\n\t}\n", "\tif <x>.hook != nil {\n\t\t<x>.hook(<x>.<n>)\n\t}\n", "\t<x>.hook(k)\n",
		"\tfor _, f := range <x>.hooks {\n\t\tf(<x>.<n>)\n\t}\n", "\t<x>.hook(k)\n\t<x>.<n>++\n")
	g.write(`
type <T> struct {
	<mu>  sync.Mutex
	<n>   int
	hook  func(int)
	hooks []func(int)
}

func (<x> *<T>) <B>() int {
	<x>.<mu>.Lock()
	defer <x>.<mu>.Unlock()
	return <x>.<n>
}

func (<x> *<T>) <A>(k int) {
` + begin + `	<x>.<n> += k
` + call + end + `}

func (<x> *<T>) On(f func(int)) {
	<x>.<mu>.Lock()
	defer <x>.<mu>.Unlock()
	<x>.hook = f
	<x>.hooks = append(<x>.hooks, f)
}`)
	g.drive("\tt, seen := new(<T>), 0\n\tt.On(func(int) { seen = t.<B>() })\n\tt.<A>(3)\n\treturn show(seen)\n", "3")
	g.drive("\tt := new(<T>)\n\tt.On(func(int) { t.On(func(int) {}) })\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>(1)\n\t\tdone <- true\n\t}()\n\tt.<A>(1)\n\t<-done\n\treturn show(t.<B>())\n", "2", "3", "4")
}

// signal: a condition changes between a waiter's look and its Wait.
func (g *mistakeGen) signal() {
	wake := g.one("Signal", "Broadcast")
	change := g.one("\t<x>.<flag> = true\n\t<x>.cond."+wake+"()\n", "\t<x>.<flag> = true\n\tWORK\n\t<x>.cond."+wake+"()\n", "\t<x>.<mu>.Lock()\n\t<x>.<flag> = true\n\t<x>.<mu>.Unlock()\n\t<x>.cond.Signal()\n")
	wait := g.one("\tfor !<x>.<flag> {\n\t\t<x>.cond.Wait()\n\t}\n", "\tfor !<x>.<flag> {\n\t\t<x>.cond.Wait()\n\t\t<x>.<n>++\n\t}\n")
	g.write(`
type <T> struct {
	<mu>   sync.Mutex
	cond   *sync.Cond
	<flag> bool
	<n>    int
}

func New() *<T> {
	<x> := new(<T>)
	<x>.cond = sync.NewCond(&<x>.<mu>)
	return <x>
}

func (<x> *<T>) <A>() {
` + change + `}

func (<x> *<T>) <B>() {
	<x>.<mu>.Lock()
	defer <x>.<mu>.Unlock()
` + wait + `}`)
	if wake == "Broadcast" || g.chance(2) {
		g.drive("\tt := New()\n\tdone := make(chan bool)\n\tfor range 2 {\n\t\tgo func() {\n\t\t\tt.<B>()\n\t\t\tdone <- true\n\t\t}()\n\t}\n\tt.<A>()\n\t<-done\n\t<-done\n\treturn show(\"over\")\n", "over")
	}
	g.drive("\tt := New()\n\tgo t.<A>()\n\tt.<B>()\n\treturn show(\"over\")\n", "over")
}

// lockOrder: two locks are taken in both orders.
func (g *mistakeGen) lockOrder() {
	between := g.one("", "\tWORK\n", "\t<x>.<n>++\n")
	second := "\t<x>.b.Lock()\n" + between + "\t<x>.a.Lock()\n\t<x>.<n>++\n\t<x>.a.Unlock()\n\t<x>.b.Unlock()\n"
	if between == "\t<x>.<n>++\n" { // it is the data of b
		second = "\t<x>.b.Lock()\n\t<x>.k++\n\t<x>.a.Lock()\n\t<x>.<n>++\n\t<x>.a.Unlock()\n\t<x>.b.Unlock()\n"
	}
	third := g.one("", "\nfunc (<x> *<T>) third() {\n\t<x>.a.Lock()\n\tdefer <x>.a.Unlock()\n\t<x>.b.Lock()\n\tdefer <x>.b.Unlock()\n\t<x>.<n>++\n}\n",
		"\nfunc (<x> *<T>) third() {\n\t<x>.b.Lock()\n\tdefer <x>.b.Unlock()\n\t<x>.inner()\n}\n\nfunc (<x> *<T>) inner() {\n\t<x>.a.Lock()\n\t<x>.<n>++\n\t<x>.a.Unlock()\n}\n")
	g.write(`
type <T> struct {
	a, b sync.Mutex
	<n>  int
	k    int
}

func (<x> *<T>) <A>() {
	<x>.a.Lock()
	<x>.b.Lock()
	<x>.<n>++
	<x>.b.Unlock()
	<x>.a.Unlock()
}

func (<x> *<T>) <D>() {
` + second + `}
` + third)
	both := func(one, other string) {
		g.drive("\tt := new(<T>)\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt."+one+"()\n\t\tdone <- true\n\t}()\n\tt."+other+"()\n\t<-done\n\treturn show(t.<n>)\n", "2")
	}
	both("<A>", "<D>")
	if third != "" {
		both("<A>", "third")
		both("third", "<D>")
	}
}

// missingRelease: a way out of a function keeps the lock.
func (g *mistakeGen) missingRelease() {
	back := g.one("errSmall", "errors.New(\"small\")")
	end := g.one("\t<x>.<n> += k\n\t<x>.<mu>.Unlock()\n\treturn nil\n", "\t<x>.<n> += k\n\t<x>.<mu>.Unlock()\n\t<x>.tell()\n\treturn nil\n")
	more := g.one("", "\tif k > 5 {\n\t\t<x>.<mu>.Unlock()\n\t\treturn nil\n\t}\n")
	g.write(`
var errSmall = errors.New("small")

type <T> struct {
	<mu> sync.Mutex
	<n>  int
	told int
}

func (<x> *<T>) tell() {
	<x>.<mu>.Lock()
	<x>.told++
	<x>.<mu>.Unlock()
}

func (<x> *<T>) <A>(k int) error {
	<x>.<mu>.Lock()
	if k < 0 {
		return ` + back + `
	}
` + more + end + `}`)
	g.drive("\tt := new(<T>)\n\tt.<A>(-1)\n\tt.<A>(2)\n\treturn show(t.<n>)\n", "2")
	g.drive("\tt := new(<T>)\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>(-2)\n\t\tt.<A>(1)\n\t\tdone <- true\n\t}()\n\tt.<A>(7)\n\tt.<A>(2)\n\t<-done\n\treturn show(t.<n>)\n", "3", "10")
}

// heldOver: a lock is held over a send whose receiver needs the lock first.
func (g *mistakeGen) heldOver() {
	value := g.one("k", "1", "<x>.<n>")
	begin, end := "\t<x>.<mu>.Lock()\n", "\t<x>.<mu>.Unlock()\n"
	if g.chance(2) {
		begin, end = "\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n", ""
	}
	after := g.one("", "\t<x>.<n>++\n")
	if end == "" {
		after = ""
	}
	g.write(`
type <T> struct {
	<mu> sync.Mutex
	<n>  int
	<c>  chan int
}

func New() *<T> { return &<T>{<c>: make(chan int)} }

func (<x> *<T>) <A>(k int) {
` + begin + `	<x>.<n> += k
	<x>.<c> <- ` + value + `
` + after + end + `}

func (<x> *<T>) <B>() int {
	<x>.<mu>.Lock()
	v := <x>.<n>
	<x>.<mu>.Unlock()
	return v + <-<x>.<c>
}`)
	g.drive("\tt := New()\n\tgo t.<A>(1)\n\treturn show(t.<B>() > 0)\n", "true")
	g.drive("\tt := New()\n\tgo t.<A>(1)\n\tgo t.<A>(2)\n\tone := t.<B>()\n\treturn show(one > 0, t.<B>() > 0)\n", "true true")
}
