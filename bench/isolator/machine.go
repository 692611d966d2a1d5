package isolator

import (
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// machine says where this is.
func machine() measure.Machine {
	m, status := measure.ThisMachine(), isolate.CurrentStatus()
	m.Backend, m.Reason = status.Backend, status.Reason
	return m
}

// procKiB is a value that /proc gives in kB, in bytes.
func procKiB(file, name string) float64 {
	n, _ := strconv.ParseFloat(strings.TrimSuffix(measure.ProcField(file, name), " kB"), 64)
	return n * 1024
}
