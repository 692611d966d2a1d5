package measure

import (
	"os"
	"runtime"
	"strings"
)

// ThisMachine says where this is. The backend is the caller's to say.
func ThisMachine() Machine {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return Machine{
		Go:     runtime.Version(),
		System: strings.TrimSpace(runtime.GOOS + "/" + runtime.GOARCH + " " + string(release)),
		CPU:    ProcField("/proc/cpuinfo", "model name"),
		Cores:  runtime.GOMAXPROCS(0),
	}
}

// ProcField is the first value of a name in a file of /proc; empty where there
// is no such file.
func ProcField(file, name string) string {
	data, _ := os.ReadFile(file)
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
