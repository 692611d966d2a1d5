//go:build unix

package pairs

import (
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"testing"
)

// wakeUp sends the program a signal and waits for it.
func wakeUp(buffer int) {
	c := make(chan os.Signal, buffer)
	signal.Notify(c, syscall.SIGUSR1)
	defer signal.Stop(c)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	<-c
}

// A signal is not waited for: without a buffer it is lost if it comes early.
func TestBugASignalForAChannelWithoutABuffer(t *testing.T) { wakeUp(0) }

func TestFineASignalForAChannelWithABuffer(t *testing.T) { wakeUp(1) }

// lastValue stops receiving, by package reflect, when it is told to.
func lastValue(t *testing.T, drain bool) {
	values, done := make(chan int, 1), make(chan struct{})
	sum := 0
	both(func() {
		reflect.ValueOf(values).Send(reflect.ValueOf(1))
		reflect.ValueOf(done).Close()
	}, func() {
		for {
			i, v, _ := reflect.Select([]reflect.SelectCase{
				{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(values)},
				{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(done)},
			})
			if i == 0 {
				sum += int(v.Int())
				continue
			}
			if v, ok := reflect.ValueOf(values).TryRecv(); drain && ok {
				sum += int(v.Int())
			}
			return
		}
	})
	if sum != 1 {
		t.Error(sum)
	}
}

func TestBugAValueIsLeftInAChannel(t *testing.T) { lastValue(t, false) }

func TestFineAChannelIsDrained(t *testing.T) { lastValue(t, true) }
