// Package twovar is the paper's two-variable atomicity violation.
package twovar

var one, two int

func Run() {
	go set(4)
	check(6)
}

func set(n int) {
	for range n {
		one = 5 // first five
		two = 5 // second five
		one = 7 // first seven
		two = 7 // second seven
	}
}

func check(n int) {
	for range n {
		if one != two { // compare
			panic("not equal")
		}
	}
}
