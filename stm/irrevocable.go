package stm

// Irrevocable makes the transaction the only one that can commit, from here to its
// end: it will not be run again, and may do what cannot be taken back. It may be
// run again up to here. Everybody else's commits wait meanwhile.
func (tx *Tx) Irrevocable() {
	if tx.Check(); tx.clone {
		tx.leave(retrying) // a clone must have no effects: it has done its part
		panic(unwind)
	}
	if tx.asked {
		return
	}
	tx.hold()
	tx.log()
	tx.eager = false // nothing can change
	tx.asked = true
	tx.count.irrevocable++
}

// OnCommit adds a function that is called when the transaction has committed,
// outside of it. If it does not commit, it is not called.
func (tx *Tx) OnCommit(f func()) {
	if !tx.clone {
		tx.onCommit = append(tx.onCommit, f)
	}
}

// OnAbort adds a function that is called when this attempt did not commit: to take
// back what the function did elsewhere. Those that were added last are called
// first.
func (tx *Tx) OnAbort(f func()) {
	if !tx.clone {
		tx.onAbort = append(tx.onAbort, f)
	}
}
