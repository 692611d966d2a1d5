//go:build !(linux && amd64)

package page

// PrepareBarrier reports that there is no [Barrier].
func PrepareBarrier() bool { return false }

// Barrier reports that nothing was done.
func Barrier() bool { return false }
