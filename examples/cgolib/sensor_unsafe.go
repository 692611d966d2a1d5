package main

/*
#include <stdint.h>

// measure writes a reading.
static void measure(volatile int32_t *to) { *to = 400; }
*/
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// sense has the library write a reading to a place, on a thread of its own.
func sense(to *int32, pace *Pace) (done <-chan bool) {
	ended := make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer close(ended)
		for !pace.Begun {
			time.Sleep(time.Millisecond)
		}
		C.measure((*C.int32_t)(unsafe.Pointer(to)))
		pace.Written = true
	}()
	return ended
}
