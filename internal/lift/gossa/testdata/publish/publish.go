// Package publish is the paper's broken publication: a structure can be seen before
// it is complete.
package publish

type object struct{ data *int }

var (
	global *object
	theOne object
	value  int
)

func Run() {
	theOne.data = &value
	go producer(40)
	consumer(6)
}

func producer(n int) {
	for range n {
		global = &theOne     // publish
		theOne.data = &value // initialise
		global = nil         // unpublish
		theOne.data = nil    // deinitialise
	}
}

func consumer(n int) {
	for range n {
		if p := global; p != nil { // take
			d := p.data // use
			_ = *d      // crash
		}
	}
}
