// Package ordered fails although everything is in order: no lock would help.
package ordered

var data *int

func Run() {
	done := make(chan bool)
	go func() {
		data = nil // store
		done <- true
	}()
	<-done
	println(*data) // load
}
