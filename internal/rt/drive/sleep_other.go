//go:build !linux

package drive

import "time"

// start is when the process began to measure.
var start = time.Now()

// processorTime is not asked for here: all of the time counts as the process's.
func processorTime() int64 { return int64(time.Since(start)) }

// threadsBusy reports whether another thread could go on, which is not known here.
func threadsBusy() bool { return false }

// hasChildren reports whether the process has children, which is not known here.
func hasChildren() bool { return false }
