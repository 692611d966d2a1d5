package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// What the standard library does to the program's memory is done for whoever calls it.
// Where that is what people share, it says here what it is about to touch: package
// reflect, which leaves it to the runtime's functions, and checksums, where an access is
// not worth a step for every byte.

// ReflectLoad announces a load of size bytes at p.
func ReflectLoad(p unsafe.Pointer, size uintptr) {
	if site, ok := librarySite(); ok {
		memory(p, size, event.Load, site)
	}
}

// ReflectStore announces a store of size bytes at p.
func ReflectStore(p unsafe.Pointer, size uintptr) {
	if site, ok := librarySite(); ok {
		memory(p, size, event.Store, site)
	}
}

// ReflectMapRead announces a read of the map at p.
func ReflectMapRead(p unsafe.Pointer) {
	if site, ok := librarySite(); ok {
		mapRead(p, site)
	}
}

// ReflectMapWrite announces a write to the map at p.
func ReflectMapWrite(p unsafe.Pointer) {
	if site, ok := librarySite(); ok {
		mapWrite(p, site)
	}
}

// LoadBytes announces a load of p.
func LoadBytes(p []byte) {
	if site, ok := librarySite(); ok {
		memory(unsafe.Pointer(unsafe.SliceData(p)), uintptr(len(p)), event.Load, site)
	}
}

// librarySite returns where the program called the standard library. ok is false if the
// caller is not under control.
func librarySite() (site uint32, ok bool) {
	c := enterLibrary()
	if c == nil {
		return 0, false
	}
	site = c.site()
	c.leave()
	return site, true
}
