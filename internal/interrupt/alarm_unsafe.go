//go:build linux && amd64

package interrupt

import (
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// alarms send the handler's signal to threads by the processor time that each of them uses.
// What runs beside the program, or in it, does not make that rarer: a goroutine that appends to
// a slice as fast as it can is looked at between two growths as soon as it needs more time there
// than the kernel's tick, on a busy machine as on a quiet one. All threads have one, because the
// goroutine may go on in any.
var alarms = struct {
	mu sync.Mutex
	of map[int]int32 // the kernel's timers, by thread
}{of: make(map[int]int32)}

// alarmPeriod is the time between two signals, in nanoseconds. The kernel rounds it up to its
// own tick.
const alarmPeriod = 1e6

type sigevent struct {
	value  uintptr
	signal int32
	notify int32
	thread int32
	_      [44]byte
}

type itimerspec struct{ interval, value syscall.Timespec }

const notifyThread = 4 // SIGEV_THREAD_ID

// setAlarms gives each thread an alarm that has none. If the kernel will not have them,
// goroutines are looked at by Poke and Chase alone.
func setAlarms() {
	alarms.mu.Lock()
	defer alarms.mu.Unlock()
	for _, thread := range threads() {
		if _, ok := alarms.of[thread]; ok {
			continue
		}
		if timer, ok := newAlarm(thread); ok {
			alarms.of[thread] = timer
		}
	}
}

func newAlarm(thread int) (timer int32, ok bool) {
	clock := uintptr(uint32(^thread<<3 | 6)) // the kernel's name for the time that a thread has used
	event := sigevent{signal: int32(syscall.SIGURG), notify: notifyThread, thread: int32(thread)}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_TIMER_CREATE, clock, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&timer))); errno != 0 {
		return 0, false
	}
	period := syscall.Timespec{Nsec: alarmPeriod}
	spec := itimerspec{period, period}
	syscall.RawSyscall6(syscall.SYS_TIMER_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	return timer, true
}

// endAlarms ends all alarms.
func endAlarms() {
	alarms.mu.Lock()
	defer alarms.mu.Unlock()
	for _, timer := range alarms.of {
		syscall.RawSyscall(syscall.SYS_TIMER_DELETE, uintptr(timer), 0, 0)
	}
	clear(alarms.of)
}

// threads returns the threads of the process, none if they are not told.
func threads() (all []int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			all = append(all, id)
		}
	}
	return all
}
