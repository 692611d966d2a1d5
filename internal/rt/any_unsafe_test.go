package rt_test

import (
	"testing"
	"unsafe"

	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// anyCase is a case as package reflect makes it.
func anyCase(ch chan int, sends bool, value *int) *AnyCase {
	return &AnyCase{
		Ch: *(*unsafe.Pointer)(unsafe.Pointer(&ch)), Sends: sends, Value: unsafe.Pointer(value),
		Move: func(from, to unsafe.Pointer) { *(*int)(to) = *(*int)(from) },
		Try: func() (done, received bool) {
			if sends {
				select {
				case ch <- *value:
					return true, false
				default:
					return false, false
				}
			}
			select {
			case *value, received = <-ch:
				return true, received
			default:
				return false, false
			}
		},
	}
}

func TestChannelsByReflectionMeetOthers(t *testing.T) {
	for _, capacity := range []int{0, 1} {
		expect(t, every(t, func() func() string {
			ch, got := make(chan int, capacity), heap(0)
			together(func() {
				value := 7
				SelectAny(false, anyCase(ch, true, &value))
			}, func() {
				*W(got, 1) = Recv(ch, 2)
			})
			return func() string {
				if *got != 7 {
					return "another value"
				}
				return "received"
			}
		}), "received")
	}
}

func TestACloseByReflectionEndsAReceive(t *testing.T) {
	expect(t, every(t, func() func() string {
		ch, received := make(chan int), heap(true)
		together(func() {
			CloseAny(*(*unsafe.Pointer)(unsafe.Pointer(&ch)), func() { close(ch) })
		}, func() {
			value := 1
			c := anyCase(ch, false, &value)
			SelectAny(false, c)
			*W(received, 1) = c.Received
		})
		return func() string {
			if *received {
				return "received"
			}
			return "closed"
		}
	}), "closed")
}

func TestASelectByReflectionHasADefault(t *testing.T) {
	Run(Config{Strategy: &first{}}, func() {
		value := 0
		if i := SelectAny(true, anyCase(nil, false, &value), anyCase(make(chan int), true, &value)); i != -1 {
			t.Errorf("case %d", i)
		}
	})
	if CloseAny(nil, nil) {
		t.Error("a goroutine outside control closed a channel under control")
	}
}

func TestASignalIsDeliveredUnderControlOnly(t *testing.T) {
	defer func() { Deliver = nil }()
	var sent []int
	Deliver = func(sig int) bool {
		sent = append(sent, sig)
		return sig == 10
	}
	if SendSignal(10) {
		t.Error("delivered to a goroutine outside control")
	}
	Run(Config{Strategy: &first{}}, func() {
		if !SendSignal(10) || SendSignal(12) {
			t.Error("delivered to none, or not at all")
		}
	})
	if len(sent) != 2 {
		t.Error(sent)
	}
}
