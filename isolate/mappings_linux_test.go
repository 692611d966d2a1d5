package isolate_test

import "syscall"

// exhaustMappings makes mappings until the kernel refuses one: of neighbours with the same
// protection it would make one.
func exhaustMappings() {
	for i := 0; ; i++ {
		prot := []int{syscall.PROT_READ, syscall.PROT_NONE}[i%2]
		if _, err := syscall.Mmap(-1, 0, 4096, prot, syscall.MAP_PRIVATE|syscall.MAP_ANON); err != nil {
			return
		}
	}
}
