//go:build linux && amd64

package page

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/goroutine"
)

// What the handler knows of the runtime is found out when the program starts.

// gWords is how much of a g is searched for its number; it has some more.
const gWords = 40

// goidOffset finds where in a g its number is, by looking for the number that
// the runtime prints in the memory of several goroutines' g. The findings name
// goroutines as stack traces do; nothing else depends on it.
func goidOffset() uintptr {
	candidates := make([]bool, gWords)
	for i := range candidates {
		candidates[i] = true
	}
	for range 4 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			id := goroutine.ID()
			var g [gWords]uint64
			copyG(&g)
			for i := range candidates {
				candidates[i] = candidates[i] && id != 0 && g[i] == id
			}
		}()
		<-done
	}
	offset := uintptr(0)
	for i, still := range candidates {
		if still && offset != 0 {
			return 0 // ambiguous
		}
		if still {
			offset = uintptr(i) * 8
		}
	}
	return offset
}

// CountProcessors notes how many goroutines can run at the same time, for the handler: if as
// many accesses wait that cannot be preempted, no section can go on.
func CountProcessors() { atomic.StoreUint64(&ctl.processors, uint64(runtime.GOMAXPROCS(0))) }

// handOver returns where in a g the flag is by which a goroutine that waits gives up its
// processor; or 0, and why goroutines that wait have to keep theirs.
func handOver() (uintptr, string) {
	const otherwise = ": an access that waits keeps its processor, and is let through after some milliseconds"
	if asyncPreemptOff() {
		return 0, "GODEBUG has asyncpreemptoff=1" + otherwise
	}
	if offset := preemptOffset(); offset != 0 && threadIsKnown() {
		return offset, ""
	}
	return 0, "this version of Go is not known" + otherwise
}

func asyncPreemptOff() bool {
	off := false
	for setting := range strings.SplitSeq(os.Getenv("GODEBUG"), ",") {
		if name, value, ok := strings.Cut(setting, "="); ok && name == "asyncpreemptoff" {
			off = value != "0" // the last one counts
		}
	}
	return off
}

// threadIsKnown checks where the handler looks for the g that a thread has for the runtime
// itself: in the first word of its m.
//
//go:nocheckptr
func threadIsKnown() bool {
	const m = 48 // g_m in wait_linux_amd64.s
	word := func(at uintptr) uintptr { return *(*uintptr)(unsafe.Add(unsafe.Pointer(nil), at)) }
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var g [gWords]uint64
	copyG(&g)
	thread := uintptr(g[m/8])
	if thread < Size || thread%8 != 0 {
		return false
	}
	system := word(thread)
	return system >= Size && system%8 == 0 && system != G() && word(system+m) == thread
}

// several makes looks for an offset until it is found. A look may come at a bad moment, so there are several.
func several(look func() uintptr) uintptr {
	const most = 4
	for range most {
		if offset := look(); offset != 0 {
			return offset
		}
	}
	return 0
}

// preemptOffset finds where in a g the flag is that says that it is to be preempted. 0: there is not one such place.
func preemptOffset() uintptr { return several(lookForWish) }

// lookForWish is one look of preemptOffset: which byte changes from 0 to 1 when the runtime wishes to
// preempt? A goroutine that runs assembly is not preempted before it has looked. The moment is bad if the
// runtime wished so before, because the goroutine whose time the looking one has taken over had run for long.
func lookForWish() uintptr {
	const trials, most, looks = 4, 64, 1 << 20
	candidates := make([]bool, gWords*8)
	for i := range candidates {
		candidates[i] = true
	}
	// On a busy machine the wish may come after the last look.
	for seen, tried := 0, 0; seen < trials && tried < most; tried++ {
		begun, done := make(chan struct{}), make(chan bool)
		var calm, wanted [gWords]uint64
		go func() {
			copyG(&calm)
			close(begun)
			done <- copyWanted(&wanted, looks)
		}()
		<-begun
		runtime.ReadMemStats(new(runtime.MemStats)) // stops all goroutines
		if !<-done {
			continue
		}
		seen++
		for i := range candidates {
			shift := i % 8 * 8
			before, after := byte(calm[i/8]>>shift), byte(wanted[i/8]>>shift)
			candidates[i] = candidates[i] && before == 0 && after == 1
		}
	}
	offset := uintptr(0)
	for i, still := range candidates {
		if still && offset != 0 {
			return 0 // ambiguous, or never seen
		}
		if still {
			offset = uintptr(i)
		}
	}
	return offset
}

// statusOffset finds where in a g the runtime says what the goroutine does, by looking at the
// g of goroutines that run and of goroutines that wait. 0: there is not one such place.
func statusOffset() uintptr { return several(lookForStatus) }

// lookForStatus is one look of statusOffset.
//
//go:nocheckptr
func lookForStatus() uintptr {
	const trials, patience = 4, 250 * time.Millisecond
	candidates := make([]bool, gWords*2)
	for i := range candidates {
		candidates[i] = true
	}
	for range trials {
		running, end := make(chan uintptr), make(chan struct{})
		var own [gWords]uint64
		go func() {
			copyG(&own)
			running <- G()
			<-end
		}()
		g := <-running
		now := (*[gWords * 2]uint32)(unsafe.Add(unsafe.Pointer(nil), g))
		fits := func(i int) bool {
			ran := uint32(own[i/2] >> (i % 2 * 32))
			return candidates[i] && ran&^statusScan == statusRunning && atomic.LoadUint32(&now[i])&^statusScan == statusWaiting
		}
		// The goroutine is about to wait, but may not have a processor.
		for begin, waits := time.Now(), false; !waits && time.Since(begin) < patience; {
			runtime.Gosched()
			for i := range candidates {
				waits = waits || fits(i)
			}
		}
		for i := range candidates {
			candidates[i] = fits(i)
		}
		close(end)
		if !slices.Contains(candidates, true) {
			return 0
		}
	}
	offset := uintptr(0)
	for i, still := range candidates {
		if still && offset != 0 {
			return 0
		}
		if still {
			offset = uintptr(i) * 4
		}
	}
	return offset
}

// numberOfGoroutines is where in a g its number is, found on the first use.
var numberOfGoroutines = sync.OnceValue(func() uintptr {
	if ctl.goid != 0 {
		return ctl.goid
	}
	return goidOffset()
})

// Number returns the number of a goroutine that is named by its g, as stack traces have it; 0 if that is not known.
//
//go:nocheckptr
func Number(g uintptr) uint64 {
	if offset := numberOfGoroutines(); g != 0 && offset != 0 {
		return atomic.LoadUint64((*uint64)(unsafe.Add(unsafe.Pointer(nil), g+offset)))
	}
	return 0
}

// statusOfGoroutines is where in a g the runtime says what the goroutine does, found on the first use.
var statusOfGoroutines = sync.OnceValue(func() uintptr {
	if ctl.status != 0 {
		return ctl.status
	}
	return statusOffset()
})

// Waits reports whether a goroutine, which is named by its g, waits for something. False: it runs, or
// that is not known.
//
//go:nocheckptr
func Waits(g uintptr) bool {
	offset := statusOfGoroutines()
	return offset != 0 && atomic.LoadUint32((*uint32)(unsafe.Add(unsafe.Pointer(nil), g+offset)))&^statusScan == statusWaiting
}
