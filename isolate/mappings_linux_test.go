package isolate_test

import "syscall"

// exhaustMappings takes all mappings that the kernel grants to this process, until they are
// given back. In between the process must not need one: a garbage collection does.
func exhaustMappings() (giveBack func()) {
	var taken [][]byte
	for i := 0; ; i++ {
		prot := []int{syscall.PROT_READ, syscall.PROT_NONE}[i%2] // neighbours that differ are two mappings
		page, err := syscall.Mmap(-1, 0, 4096, prot, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			break
		}
		taken = append(taken, page)
	}
	return func() {
		for _, page := range taken {
			_ = syscall.Munmap(page)
		}
	}
}
