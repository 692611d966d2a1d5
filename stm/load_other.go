//go:build !amd64 || race

package stm

// Load returns the value of a variable in the transaction: the one that the
// transaction stored last, or else the one that is there. Any variable will do
// that is only accessed like this while it is shared.
func Load[T any](tx *Tx, p *T) T { return loadWithLogs(tx, p) }

// LoadWhole is Load of a variable that no transaction assigns to, as compiled code has it.
// Plain code may assign to it, between transactions that take an object out and put it back. So what
// was read holds only as long as no other transaction commits. It is not logged: if one does commit,
// the attempt is given up, and the next transactions of the goroutine log such reads.
// Here it is Load: only one processor keeps two reads in their order.
func LoadWhole[T any](tx *Tx, p *T) T { return Load(tx, p) }
