package stm

// A Var is a variable that can only be accessed in transactions. Its zero value
// holds the zero T. It must not be copied.
type Var[T any] struct {
	_ noCopy
	v T
}

// NewVar returns a variable with a value.
func NewVar[T any](v T) *Var[T] { return &Var[T]{v: v} }

// Load returns the value in the transaction.
func (x *Var[T]) Load(tx *Tx) T { return Load(tx, &x.v) }

// Store sets the value in the transaction.
func (x *Var[T]) Store(tx *Tx, v T) { Store(tx, &x.v, v) }

// noCopy makes go vet object to copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
