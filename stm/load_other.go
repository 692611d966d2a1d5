//go:build !amd64 || race

package stm

// Load returns the value of a variable in the transaction: the one that the
// transaction stored last, or else the one that is there. Any variable will do
// that is only accessed like this while it is shared.
func Load[T any](tx *Tx, p *T) T { return loadWithLogs(tx, p) }
