//go:build !amd64 && !arm64

package page

import "github.com/cofferdam-go/cofferdam/internal/goroutine"

// G names the running goroutine, by the number that stack traces give it. That is
// slow, but nothing else is to be had without assembly.
func G() uintptr { return uintptr(goroutine.ID()) }

// StackDepth is not known here.
func StackDepth() uintptr { return 0 }

// Prefetch does nothing here.
func Prefetch(first, last uintptr) {}
