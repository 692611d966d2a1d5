//go:build !linux || !amd64

package native

// Forms needs the processor that is emulated.
func Forms(int, uint64) (Result, error) { return Result{}, ErrRefused }

// Start needs the processor that is emulated.
func Start(int, string, ...string) (Result, error) { return Result{}, ErrRefused }

// Vectors needs the processor that is emulated.
func Vectors(int, uint64) ([]Vector, error) { return nil, ErrRefused }

// Follow needs the processor that the program is for.
func Follow(*Launched, *Route) (*Followed, error) { return nil, ErrRefused }
