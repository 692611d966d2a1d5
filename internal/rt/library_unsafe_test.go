package rt_test

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

func TestABubbleEndsWithItsLastGoroutine(t *testing.T) {
	expect(t, every(t, func() func() string {
		n := heap(0)
		Bubble(func() {
			Go(1, func() {
				Sleep(10)
				Go(2, func() { Add(n, 1, 1, 2) })
			})
		})
		v := R(n, 3)
		return func() string { return fmt.Sprint(v) }
	}), "1")
}

func TestWaitComesAfterAllOthersOfTheBubble(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		n, m := heap(0), heap(0)
		Bubble(func() {
			Go(1, func() {
				*W(n, 1) = 1
				Sleep(10)
				*W(m, 2) = 2
			})
			if !BubbleWait() || R(n, 3) != 1 || elapsed() != 0 {
				t.Errorf("%d at %d", *n, elapsed())
			}
			Sleep(20)
			BubbleWait()
			if R(m, 4) != 2 || elapsed() != 20 {
				t.Errorf("%d at %d", *m, elapsed())
			}
		})
		if BubbleWait() {
			t.Error("waited outside a bubble")
		}
	})
	if r.Failed() {
		t.Errorf("%+v", r)
	}
}

func TestABubbleThatCannotEndIsADeadlock(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		Bubble(func() { Go(1, func() { Block(2) }) })
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock {
		t.Errorf("%+v", r.Failures)
	}
}

func TestTimeAskedForAgainHasPassed(t *testing.T) {
	Run(Config{Races: true, Strategy: &first{}}, func() {
		first, second := elapsed(), elapsed()
		Sleep(1000)
		third := elapsed()
		if second <= first || third-second <= 1000 {
			t.Error(first, second, third)
		}
	})
}

func TestTwoWhoWaitForAGroupDoNotRace(t *testing.T) {
	for seed := range uint64(50) {
		wg := heap(waitGroup{})
		r := Run(Config{Races: true, Strategy: sched.NewRandom(seed)}, func() {
			wg.Add(1)
			Go(1, wg.Done)
			together(wg.Wait, wg.Wait)
		})
		if r.Failed() {
			t.Fatalf("seed %d: %+v", seed, r.Races)
		}
	}
}

func TestWhatTheLibraryTouchesRaces(t *testing.T) {
	m := map[int]int{}
	b := []byte{1}
	for name, f := range map[string][2]func(){
		"load":     {func() { ReflectLoad(unsafe.Pointer(&b[0]), 1) }, func() { *W(&b[0], 1) = 2 }},
		"store":    {func() { ReflectStore(unsafe.Pointer(&b[0]), 1) }, func() { _ = R(&b[0], 1) }},
		"bytes":    {func() { LoadBytes(b) }, func() { *W(&b[0], 1) = 2 }},
		"map read": {func() { ReflectMapRead(*(*unsafe.Pointer)(unsafe.Pointer(&m))) }, func() { MW(m, 1) }},
		"map":      {func() { ReflectMapWrite(*(*unsafe.Pointer)(unsafe.Pointer(&m))) }, func() { MR(m, 1) }},
	} {
		if r := Run(Config{Races: true, Strategy: &first{}}, func() { together(f[0], f[1]) }); len(r.Races) != 1 {
			t.Errorf("%s: %+v", name, r.Races)
		}
	}
}

func TestRunsComeAfterWhatWasBefore(t *testing.T) {
	Freeze()
	_, before, frozen := Now()
	Thaw()
	_, _, after := Now()
	Run(Config{Races: true, Strategy: &first{}}, func() {
		if !frozen || after || elapsed() < before {
			t.Error(frozen, after, elapsed(), before)
		}
	})
}
