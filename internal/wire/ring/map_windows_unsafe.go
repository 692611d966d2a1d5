//go:build windows

package ring

import (
	"os"
	"syscall"
	"unsafe"
)

func mapFile(f *os.File) ([]byte, error) {
	mapping, err := syscall.CreateFileMapping(syscall.Handle(f.Fd()), nil, syscall.PAGE_READWRITE, 0, uint32(fileSize), nil)
	if err != nil {
		return nil, err
	}
	defer syscall.CloseHandle(mapping) // the view keeps it
	addr, err := syscall.MapViewOfFile(mapping, syscall.FILE_MAP_READ|syscall.FILE_MAP_WRITE, 0, 0, uintptr(fileSize))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), fileSize), nil
}

func unmap(memory []byte) error {
	return syscall.UnmapViewOfFile(uintptr(unsafe.Pointer(&memory[0])))
}
