package isolator

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// machine says where this is.
func machine() measure.Machine {
	status := isolate.CurrentStatus()
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return measure.Machine{
		Go:      runtime.Version(),
		System:  strings.TrimSpace(runtime.GOOS + "/" + runtime.GOARCH + " " + string(release)),
		CPU:     procField("/proc/cpuinfo", "model name"),
		Cores:   runtime.GOMAXPROCS(0),
		Backend: status.Backend,
		Reason:  status.Reason,
	}
}

// procField is the first value of a name in a file of /proc; empty where there
// is no such file.
func procField(file, name string) string {
	data, _ := os.ReadFile(file)
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// procKiB is a value that /proc gives in kB, in bytes.
func procKiB(file, name string) float64 {
	n, _ := strconv.ParseFloat(strings.TrimSuffix(procField(file, name), " kB"), 64)
	return n * 1024
}
