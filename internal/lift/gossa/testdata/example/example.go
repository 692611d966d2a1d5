// Package example is the program of the package comments of gossa and sli.
package example

var count int

func Run() {
	go tick()
	steady()
}

func tick() {
	count = 7
}

func steady() {
	first := count
	if first != count {
		panic("count changed")
	}
}
