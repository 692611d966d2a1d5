package lanes

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

func TestWhatStandsBehindAnOperationIsInWords(t *testing.T) {
	for _, test := range []struct {
		e    event.Event
		want string
	}{
		{event.Event{Kind: event.Recv}, ""},
		{event.Event{Kind: event.Recv, Arg: 3}, "3 in the channel"},
		{event.Event{Kind: event.Select, Arg: 2}, ""},
		{event.Event{Kind: event.TimerStart, Arg: 1e7}, "10ms"},
		{event.Event{Kind: event.WaitGroupAdd, Arg: 1}, "+1"},
	} {
		if got := argumentWords(&test.e); got != test.want {
			t.Errorf("%v %d: %q, want %q", test.e.Kind, test.e.Arg, got, test.want)
		}
	}
}

func TestAddressesThatSayNothingAreLeftOut(t *testing.T) {
	const text = "map write m[k] {v:interface(0x63, 0x69)} -> {v:interface(0x63, 0x70 (obj2))} 0x71 (obj3)"
	if got, want := forPeople(text), "map write m[k] {v:…} -> {v:interface(0x63, obj2)} obj3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
