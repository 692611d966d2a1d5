//go:build unix

package ring

import (
	"os"
	"syscall"
)

func mapFile(f *os.File) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, fileSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmap(memory []byte) error { return syscall.Munmap(memory) }
