package isolate_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// exhaustMappings takes all mappings that the kernel grants to this process, until they are
// given back. The process must not need one in between, for more heap or another thread, so
// nothing is allocated here: one region is cut into pages whose neighbours differ.
func exhaustMappings() (giveBack func()) {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	if err != nil {
		panic(err)
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		panic(err)
	}
	page := os.Getpagesize()
	region, err := syscall.Mmap(-1, 0, (limit+1)*page, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		panic(err)
	}
	for start := page; ; start += 2 * page {
		if syscall.Mprotect(region[start:start+page], syscall.PROT_READ) == syscall.ENOMEM {
			break
		}
	}
	return func() { _ = syscall.Munmap(region) }
}
