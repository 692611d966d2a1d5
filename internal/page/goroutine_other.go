//go:build !amd64 && !arm64

package page

import (
	"bytes"
	"runtime"
	"strconv"
)

// G names the running goroutine, by the number that stack traces give it. That is
// slow, but nothing else is to be had without assembly.
func G() uintptr {
	text := make([]byte, 64)
	text = bytes.TrimPrefix(text[:runtime.Stack(text, false)], []byte("goroutine "))
	id, _ := strconv.ParseUint(string(bytes.Fields(text)[0]), 10, 64)
	return uintptr(id)
}

// StackDepth is not known here.
func StackDepth() uintptr { return 0 }
