//go:build !linux || !amd64

package native

// Forms needs the processor that is emulated.
func Forms(int, uint64) (Result, error) { return Result{}, ErrRefused }

// Start needs the processor that is emulated.
func Start(int, string, ...string) (Result, error) { return Result{}, ErrRefused }
