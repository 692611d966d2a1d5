package rt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// senders and receivers are the ways in which a goroutine waits for a channel.
var senders = map[string]func(ch chan int, v int){
	"a send":     func(ch chan int, v int) { To[int](ch).Send(v, 1) },
	"a select":   func(ch chan int, v int) { Select(1, false, nil, CaseRecv(make(chan int, 1)), CaseSend(ch).Of(v)) },
	"reflection": func(ch chan int, v int) { SelectAny(false, anyCase(ch, true, &v)) },
}

var receivers = map[string]func(ch chan int) int{
	"a receive": func(ch chan int) int { return Recv(ch, 2) },
	"a select": func(ch chan int) int {
		c := CaseRecv(ch)
		Select(2, false, nil, CaseSend(make(chan int)).Of(1), c)
		return c.Value()
	},
	"reflection": func(ch chan int) (v int) {
		SelectAny(false, anyCase(ch, false, &v))
		return v
	},
}

// inLine calls f for each way to send and to receive, and counts the outcomes of all schedules.
func inLine(t *testing.T, want string, f func(send func(chan int, int), recv func(chan int) int) string) {
	for s, send := range senders {
		for r, recv := range receivers {
			t.Run(s+" and "+r, func(t *testing.T) {
				expect(t, every(t, func() func() string {
					got := f(send, recv)
					return func() string { return got }
				}), want)
			})
		}
	}
}

func TestNoneTakesThePlaceOfASenderThatWaits(t *testing.T) {
	inLine(t, "1 -1 2", func(send func(chan int, int), recv func(chan int) int) string {
		ch := make(chan int, 1)
		Go(1, func() { send(ch, 1); send(ch, 2) })
		Sleep(1)
		first := recv(ch)
		late := Select(3, true, nil, CaseSend(ch).Of(3))
		return fmt.Sprint(first, late, recv(ch))
	})
}

func TestNoneTakesTheValueOfAReceiverThatWaits(t *testing.T) {
	inLine(t, "1 -1 2", func(send func(chan int, int), recv func(chan int) int) string {
		ch, got := make(chan int, 1), make(chan int, 1)
		Go(1, func() { To[int](got).Send(recv(ch), 1) })
		Sleep(1)
		send(ch, 1)
		late := Select(3, true, nil, CaseRecv(ch))
		send(ch, 2)
		return fmt.Sprint(Recv(got, 1), late, recv(ch))
	})
}

func TestSendersComeInTheOrderInWhichTheyWait(t *testing.T) {
	inLine(t, "[0 1 2 3]", func(send func(chan int, int), recv func(chan int) int) string {
		ch := make(chan int, 2)
		for i := range 4 {
			Go(1, func() { send(ch, i) })
			Sleep(1)
		}
		var all []int
		for range 4 {
			all = append(all, recv(ch))
		}
		return fmt.Sprint(all)
	})
}

func TestReceiversComeInTheOrderInWhichTheyWait(t *testing.T) {
	inLine(t, "[5 6 7]", func(send func(chan int, int), recv func(chan int) int) string {
		ch, all := make(chan int, 2), make([]int, 3)
		for i := range all {
			Go(1, func() { *W(&all[i], 1) = recv(ch) })
			Sleep(1)
		}
		for i := range all {
			send(ch, 5+i)
		}
		Sleep(1)
		return fmt.Sprint(all)
	})
}

func TestATimerServesTheReceiverThatWaits(t *testing.T) {
	expect(t, every(t, func() func() string {
		tick, got := make(chan int64, 1), make(chan int64, 1)
		Go(1, func() { To[int64](got).Send(Recv(tick, 1), 1) })
		Sleep(1)
		timer := heap(0)
		StartTimer(timer, 0, 0, tick, func() int64 { return 8 })
		late := Select(3, true, nil, CaseRecv(tick))
		text := fmt.Sprint(late, Recv(got, 1))
		return func() string { return text }
	}), "-1 8")
}

// TestAReceiveIsRecordedBeforeTheSendThatItCompletes: the n-th receive of a trace has the value of
// the n-th send.
func TestAReceiveIsRecordedBeforeTheSendThatItCompletes(t *testing.T) {
	lines, _ := record(&first{}, func() {
		ch := make(chan int, 1)
		Go(1, func() { senders["a send"](ch, 1); senders["a send"](ch, 2) })
		Sleep(1)
		Recv(ch, 2)
		Recv(ch, 2)
	})
	var kinds []string
	for _, l := range lines {
		if f := strings.Fields(l); f[2] == event.Send.String() || f[2] == event.Recv.String() {
			kinds = append(kinds, f[1]+" "+f[2])
		}
	}
	send, recv := "g2 "+event.Send.String(), "g1 "+event.Recv.String()
	if want := []string{send, recv, send, recv}; !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
}
