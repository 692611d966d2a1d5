//go:build linux && amd64

package page

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Where the arena is. The shared view begins at a multiple of twice OwnBit, so
// that an address of the own view is the same address with one bit set: going
// from one view to the other needs no table and no load. All are set by Setup,
// before the first pointer into the arena exists.
var (
	Base    unsafe.Pointer // of the shared view
	OwnView unsafe.Pointer // where the own view begins
	Bytes   uintptr        // size of each view
	OwnBit  uintptr
)

const (
	ownBit   = 1 << 40
	maxBytes = 256 << 30 // address space, not memory
	minBytes = 16 << 20
	maxGates = 1 << 20
)

// apart keeps the owner of a page and what is at the beginning of the page from
// having the same lower half of their addresses: sections use both, and took up to
// twice as long.
const apart = 2048 + 64

// memory is the file that both views show.
var memory int

// setup maps the arena, finds the best backend that works, and installs the
// handler for it.
func setup() Status {
	if err := mapViews(); err != nil {
		return plain(err)
	}
	if err := makeTables(); err != nil {
		return unprotected(err)
	}
	ctl = control{
		base:     uintptr(Base),
		size:     Bytes,
		ownBit:   OwnBit,
		owners:   uintptr(unsafe.Pointer(&arena.owners[0])),
		gates:    uintptr(unsafe.Pointer(&arena.gates[0])),
		waits:    uintptr(unsafe.Pointer(&waits[0])),
		ring:     uintptr(unsafe.Pointer(&ring[0])),
		uffd:     -1,
		goid:     goidOffset(),
		head:     firstTicket,
		patience: int64(2 * time.Millisecond),
	}
	SetLongestWait(time.Second)
	CountProcessors()
	status := protect()
	if status.Backend != None {
		ctl.preempt, status.Weakness = handOver()
		if ctl.status = statusOffset(); ctl.status == 0 && status.Weakness == "" {
			status.Weakness = "this version of Go is not known: a section is left for code that may wait"
		}
	}
	return status
}

// makeTables makes what the arena and the handler need to know.
func makeTables() error {
	pages, gates := Bytes/Size, uintptr(maxGates)
	if Bytes < maxBytes {
		gates = pages // address space is scarce
	}
	var failed error
	table := func(size uintptr) unsafe.Pointer {
		p, err := reserve(size)
		failed = errors.Join(failed, err)
		return p
	}
	owners := table(pages*4 + Size)
	meta := table(Bytes / Block * 4)
	gateTable := table(gates * unsafe.Sizeof(Gate{}))
	ringTable := table(ringSlots * unsafe.Sizeof(Fault{}))
	waitTable := table(waitSlots * unsafe.Sizeof(wait{}))
	if failed != nil {
		return failed
	}
	arena.owners = unsafe.Slice((*uint32)(unsafe.Add(owners, apart)), pages)
	arena.meta = unsafe.Slice((*uint32)(meta), Bytes/Block)
	arena.gates = unsafe.Slice((*Gate)(gateTable), gates)
	ring = unsafe.Slice((*Fault)(ringTable), ringSlots)
	waits = unsafe.Slice((*wait)(waitTable), waitSlots)
	return nil
}

// protect chooses the backend.
func protect() Status {
	wish := Backend(os.Getenv(BackendVariable))
	var refused error
	switch wish {
	case "", Userfaultfd:
		err := useUserfaultfd()
		if err == nil {
			return Status{Backend: Userfaultfd}
		}
		if wish == Userfaultfd {
			return unprotected(err)
		}
		refused = err
	case Mprotect:
		refused = errors.New(BackendVariable + " asks for it")
	case None:
		return unprotected(errors.New(BackendVariable + " asks for it"))
	default:
		return unprotected(fmt.Errorf("%s is %q, which is not %q, %q or %q", BackendVariable, wish, Userfaultfd, Mprotect, None))
	}
	if err := useMprotect(); err != nil {
		return unprotected(errors.Join(refused, err))
	}
	return Status{Backend: Mprotect, Reason: refused.Error()}
}

// unprotected leaves both views open for good.
func unprotected(why error) Status {
	syscall.Close(memory)
	return plain(why)
}

// plain makes an arena without protection, whose two views are one.
func plain(why error) Status {
	if Base != nil {
		munmap(Base, Bytes)
		munmap(unsafe.Add(Base, ownBit), Bytes)
	}
	setupPlain()
	ctl = control{
		base:   uintptr(Base),
		size:   Bytes,
		owners: uintptr(unsafe.Pointer(&arena.owners[0])),
		head:   firstTicket,
	}
	waits = make([]wait, waitSlots)
	return Status{Backend: None, Reason: why.Error()}
}

// mapViews maps one memory file twice, as large as the limits of the process
// allow. Nothing is readable yet: see commit.
func mapViews() error {
	if os.Getpagesize() != Size {
		return fmt.Errorf("pages of %d bytes; only %d is supported", os.Getpagesize(), Size)
	}
	fd, err := memfdCreate("isolate")
	if err != nil {
		return fmt.Errorf("memfd_create: %w", err)
	}
	for size := largest(); size >= minBytes; size /= 2 {
		if err = syscall.Ftruncate(fd, int64(size)); err != nil {
			continue
		}
		// High in the address space but below libraries and stacks, away from the
		// Go heap and from the race detector's shadow. A place that is taken is
		// refused by the kernel, and the next one tried.
		for at := uintptr(0x4200_0000_0000); at < 0x5400_0000_0000; at += 2 * ownBit {
			var shared unsafe.Pointer
			if shared, err = mapAt(fd, at, size); err != nil {
				continue
			}
			if _, err = mapAt(fd, at+ownBit, size); err != nil {
				munmap(shared, size)
				continue
			}
			memory, Base, Bytes, OwnBit = fd, shared, size, ownBit
			OwnView = unsafe.Add(shared, ownBit)
			return nil
		}
	}
	syscall.Close(fd)
	return fmt.Errorf("mmap of the arena: %w", err)
}

func mapAt(fd int, at, size uintptr) (unsafe.Pointer, error) {
	p, err := mmap(fd, at, size, syscall.PROT_NONE, syscall.MAP_SHARED|syscall.MAP_NORESERVE|mapFixedNoreplace)
	if err != nil {
		return nil, err
	}
	// A core dump would visit every page of the range.
	return p, syscall.Madvise(unsafe.Slice((*byte)(p), size), madvDontdump)
}

// reserve returns zeroed memory outside the Go heap that costs nothing until it
// is touched. The tables of the arena are sized for its address space.
func reserve(size uintptr) (unsafe.Pointer, error) {
	p, err := mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("no address space for a table of %d bytes: %w", size, err)
	}
	return p, nil
}

// largest is how large the arena may be: where address space is limited, most of what is left of it is
// the program's. Each thread that it starts may take a hundred megabytes.
func largest() uintptr {
	const part, unlimited = 32, 1 << 47 // more than there is
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= unlimited {
		return maxBytes
	}
	left := limit.Cur - min(limit.Cur, addressSpace())
	size := uintptr(maxBytes)
	for size > minBytes && uint64(size) > left/part {
		size /= 2
	}
	return size
}

// addressSpace is how much of it the process has, 0 if that is not known.
func addressSpace() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseUint(pages, 10, 64)
	return n * Size
}

// commit backs a run with memory, readable in the own view alone.
func commit(r run) error {
	if arena.status.Backend == None {
		return nil
	}
	if err := syscall.Fallocate(memory, 0, int64(r.first)*Size, int64(r.pages)*Size); err != nil {
		return fmt.Errorf("fallocate %d pages: %w", r.pages, err)
	}
	if arena.status.Backend == Mprotect {
		return syscall.Mprotect(view(OwnBit, r), syscall.PROT_READ|syscall.PROT_WRITE)
	}
	return nil
}

// decommit takes a run out of both views and gives its memory back.
func decommit(r run) error {
	if arena.status.Backend == None {
		clear(view(0, r))
		return nil
	}
	if arena.status.Backend == Mprotect {
		if err := errors.Join(
			syscall.Mprotect(view(0, r), syscall.PROT_NONE),
			syscall.Mprotect(view(OwnBit, r), syscall.PROT_NONE),
		); err != nil {
			return err
		}
	}
	return syscall.Fallocate(memory, fallocPunchHole|fallocKeepSize,
		int64(r.first)*Size, int64(r.pages)*Size)
}

// view is a run in the view that begins at bit.
func view(bit uintptr, r run) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(Base, bit+uintptr(r.first)*Size)), uintptr(r.pages)*Size)
}
