//go:build !unix

package drive

import "github.com/cofferdam-go/cofferdam/internal/wire"

// keepFromPrograms has nothing to do where programs do not inherit what they are not given.
func keepFromPrograms(wire.Pipes) {}
