package randprog

import "strings"

// start: a goroutine starts before what it uses is made.
func (g *mistakeGen) start() {
	start := g.one("\tgo <x>.<D>()\n", "\tgo func() {\n\t\t<x>.<D>()\n\t}()\n", "\tfor range 1 {\n\t\tgo <x>.<D>()\n\t}\n")
	set := g.one("\t<x>.<c> = make(chan int)\n\t<x>.out = make(chan int, 2)\n", "\t<x>.out = make(chan int, 2)\n\t<x>.prepare()\n", "\t<x>.<c>, <x>.out = make(chan int), make(chan int, 2)\n")
	between := g.one("", "\tWORK\n", "\t<x>.<n> = k\n", "\t<x>.ready <- k\n\t<-<x>.ready\n")
	// A constructor that waits for its goroutine cannot start it later.
	handshake := g.chance(6)
	first := ""
	if handshake {
		between, first = "\t<-<x>.ready\n", "\t<x>.ready <- 1\n"
	}
	g.write(`
type <T> struct {
	<c>, out chan int
	ready    chan int
	<n>      int
}

func (<x> *<T>) prepare() { <x>.<c> = make(chan int) }

func (<x> *<T>) <D>() {
` + first + `	for v := range <x>.<c> {
		<x>.out <- v + 1
	}
	close(<x>.out)
}

func New(k int) *<T> {
	<x> := &<T>{ready: make(chan int, 1)}
` + start + between + set + `	return <x>
}`)
	if g.chance(2) {
		g.write(`
func Restart(k int) *<T> {
	<x> := new(<T>)
	<x>.ready = make(chan int, 1)
	go <x>.<D>()
	<x>.<c> = make(chan int)
	<x>.out = make(chan int, 2)
	return <x>
}`)
		g.drive("\tt := New(1)\n\tt.<c> <- 3\n\tclose(t.<c>)\n\treturn show(<-t.out)\n", "4")
		if !handshake {
			g.drive("\tt := Restart(1)\n\tt.<c> <- 3\n\tclose(t.<c>)\n\treturn show(<-t.out)\n", "4")
		}
		return
	}
	g.drive("\tt := New(1)\n\tt.<c> <- 3\n\tclose(t.<c>)\n\tv := <-t.out\n\t_, open := <-t.out\n\treturn show(v, open)\n", "4 false")
	g.drive("\tt := New(2)\n\tclose(t.<c>)\n\t_, open := <-t.out\n\treturn show(open)\n", "false")
}

// lateAdd: a WaitGroup counts up in the goroutine that it counts.
func (g *mistakeGen) lateAdd() {
	body := g.one("\t\tgo func() {\n\t\t\t<wg>.Add(1)\n\t\t\tdefer <wg>.Done()\n\t\t\tmu.Lock()\n\t\t\tn += v\n\t\t\tmu.Unlock()\n\t\t}()\n",
		"\t\tgo func() {\n\t\t\tmu.Lock()\n\t\t\tn += v\n\t\t\tmu.Unlock()\n\t\t\t<wg>.Done()\n\t\t}()\n\t\t<wg>.Add(1)\n",
		"\t\tgo func(k int) {\n\t\t\tdefer <wg>.Done()\n\t\t\t<wg>.Add(1)\n\t\t\tmu.Lock()\n\t\t\tdefer mu.Unlock()\n\t\t\tn += k\n\t\t}(v)\n")
	g.write(`
func Sum(list ...int) int {
	var <wg> sync.WaitGroup
	var mu sync.Mutex
	n := 0
	WORK
	for _, v := range list {
` + body + `	}
	<wg>.Wait()
	mu.Lock()
	defer mu.Unlock()
	return n
}`)
	g.drive("\treturn show(Sum(4))\n", "4")
	g.drive("\treturn show(Sum(1, 2))\n", "3")
	g.drive("\treturn show(Sum())\n", "0")
}

// join: a function reads what a goroutine sets for it, and does not wait.
func (g *mistakeGen) join() {
	result := g.one("n", "n + 1", "n * 2")
	wait := g.one("", "\tvar <wg> sync.WaitGroup\n\t<wg>.Add(1)\n")
	done, late := "", ""
	if wait != "" {
		done, late = "\t\tdefer <wg>.Done()\n", "\t<wg>.Wait()\n"
	}
	g.write(`
func compute(k int) int { return k * k }

func Get(k int) (result int) {
	var n int
` + wait + `	go func() {
` + done + `		n = compute(k)
	}()
	WORK
	result = ` + result + `
` + late + `	return result
}`)
	want := map[string][2]string{"n": {"9", "16"}, "n + 1": {"10", "17"}, "n * 2": {"18", "32"}}[result]
	g.drive("\treturn show(Get(3))\n", want[0])
	g.drive("\treturn show(Get(4))\n", want[1])
}

// capture: goroutines share a scratch variable.
func (g *mistakeGen) capture() {
	use := g.one("\t\t\t<err> = step(v)\n\t\t\tif <err> != nil {\n\t\t\t\tfailed(v)\n\t\t\t}\n", "\t\t\tif <err> = step(v); <err> != nil {\n\t\t\t\tfailed(v)\n\t\t\t}\n")
	behind := g.one("", "\t<err> = step(0)\n\tif <err> != nil {\n\t\tfailed(0)\n\t}\n")
	g.write(`
func Run(list []int, step func(int) error, failed func(int)) {
	var <wg> sync.WaitGroup
	var <err> error
	for _, v := range list {
		<wg>.Add(1)
		go func() {
			defer <wg>.Done()
` + use + `		}()
	}
	<wg>.Wait()
` + behind + `}`)
	g.drive(`
	var mu sync.Mutex
	bad := 0
	Run([]int{1, 2}, func(v int) error {
		if v == 1 {
			return errors.New("odd")
		}
		return nil
	}, func(v int) {
		mu.Lock()
		bad += v
		mu.Unlock()
	})
	return show(bad)
`, "1")
	g.drive(`
	var mu sync.Mutex
	bad := 0
	Run([]int{1, 2}, func(v int) error { return errors.New("always") }, func(v int) {
		mu.Lock()
		bad += v
		mu.Unlock()
	})
	return show(bad)
`, "3")
}

// firstError: goroutines assign to the error of the function, whether they failed or not.
func (g *mistakeGen) firstError() {
	set := g.one("\t\t\t<err> = step()\n", "\t\t\t_, <err> = count(step)\n", "\t\t\tif <err> = step(); <err> != nil {\n\t\t\t\treturn\n\t\t\t}\n")
	look := g.one("", "\t\t\tif <err> != nil {\n\t\t\t\treturn\n\t\t\t}\n", "") // reads what another may have set
	start := g.one("\t\tgo func() {\n\t\t\tdefer <wg>.Done()\n"+set+look+"\t\t}()\n", "\t\tgo func() {\n"+set+"\t\t\t<wg>.Done()\n\t\t}()\n")
	if strings.Contains(set, "return") {
		start = "\t\tgo func() {\n\t\t\tdefer <wg>.Done()\n" + set + "\t\t}()\n"
	}
	g.write(`
func count(step func() error) (int, error) { return 1, step() }

func All(steps ...func() error) error {
	var <err> error
	var <wg> sync.WaitGroup
	WORK
	for _, step := range steps {
		<wg>.Add(1)
` + start + `	}
	<wg>.Wait()
	return <err>
}`)
	g.drive("\treturn show(All(func() error { return errors.New(\"bad\") }, func() error { return nil }) != nil)\n", "true")
	g.drive("\treturn show(All(func() error { return nil }, func() error { return errors.New(\"bad\") }) != nil)\n", "true")
	g.drive("\treturn show(All(func() error { return nil }, func() error { return nil }))\n", "<nil>")
}

// words: counters and flags that are only added to, set and read; or that are not.
func (g *mistakeGen) words() {
	typ := g.one("int", "int64", "uint32", "int32")
	update := g.one("\t<x>.<n>++\n", "\t<x>.<n> += 1\n", "\tif k := 1; k > 0 {\n\t\t<x>.<n>++\n\t}\n")
	var more, unseen string
	want := []string{"0", "1"}
	switch g.pick(5) {
	case 1: // an update that is taken apart by two methods
		more = "func (<x> *<T>) put(v " + typ + ") { <x>.<n> = v }\n\nfunc (<x> *<T>) double() { <x>.put(<x>.<B>() * 2) }\n"
	case 2: // a check before an update
		more = "func (<x> *<T>) limited() {\n\tif <x>.<n> < 1 {\n\t\t<x>.<n>++\n\t}\n}\n"
		unseen = "limited"
	case 3: // a flag beside it
		more = "func (<x> *<T>) <C>() { <x>.<flag> = true }\n\nfunc (<x> *<T>) is() bool { return <x>.<flag> }\n"
	case 4: // a sibling that counts
		more = "func (<x> *<T>) reset() { <x>.<n> = 0 }\n"
		unseen = "reset"
	}
	g.write(`
type <T> struct {
	name   string
	<n>    ` + typ + `
	<flag> bool
}

func (<x> *<T>) <A>() {
` + update + `}

func (<x> *<T>) <B>() ` + typ + ` { return <x>.<n> }

` + more)
	g.drive("\tt := &<T>{name: \"a\"}\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>()\n\t\tdone <- true\n\t}()\n\tv := t.<B>()\n\t<-done\n\treturn show(v)\n", want...)
	g.drive("\tt := new(<T>)\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>()\n\t\tdone <- true\n\t}()\n\tt.<A>()\n\t<-done\n\treturn show(t.<B>())\n", "2")
	switch {
	case unseen == "limited":
		g.drive("\tt := new(<T>)\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.limited()\n\t\tdone <- true\n\t}()\n\tt.limited()\n\t<-done\n\treturn show(t.<B>())\n", "1")
	case unseen == "reset":
		g.drive("\tt := new(<T>)\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>()\n\t\tdone <- true\n\t}()\n\tt.reset()\n\t<-done\n\treturn show(t.<B>())\n", "0", "1")
	case strings.Contains(more, "double"):
		g.drive("\tt := new(<T>)\n\tt.<A>()\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<A>()\n\t\tdone <- true\n\t}()\n\tt.double()\n\t<-done\n\treturn show(t.<B>())\n", "3", "4")
	}
}
