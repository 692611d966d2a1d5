// Package privatize is figure 1 of the paper: a goroutine takes a structure back
// while another still has a pointer to it.
package privatize

type inner struct{ x, y int }

type outer struct{ in *inner }

var (
	global   *outer
	variable outer
	fallback outer
	struct1  inner
	struct2  inner
)

func Run() {
	fallback.in, variable.in = &struct2, &struct1
	go owner(40)
	for range 6 {
		reader()
	}
}

func owner(n int) {
	for range n {
		variable.in = &struct1 // V
		global = &variable     // W
		global = nil           // X
		variable.in = nil      // Y
	}
}

func reader() int {
	p := global   // A
	if p == nil { // D
		p = &fallback // E
	}
	s := p.in  // G
	return s.y // J
}
