package explore

import (
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// TestAnOptionLeftOutIsTheDefault holds what a search that names nothing looks at: a zero that
// meant "no stalls" hid the bugs of timers from every caller but one.
func TestAnOptionLeftOutIsTheDefault(t *testing.T) {
	p := &Program{build: &Build{Program: &instrument.Program{}}}
	for _, c := range []struct {
		given Options
		stall time.Duration
		steps uint64
	}{
		{Options{}, DefaultStall, DefaultSteps},
		{Options{Stall: NoStall}, 0, DefaultSteps},
		{Options{Stall: time.Second, Steps: 7}, time.Second, 7},
	} {
		order := p.order(wire.Explore, "TestX", &c.given)
		if order.Stall != c.stall || order.Steps != c.steps || order.Within != DefaultWithin {
			t.Errorf("%+v orders stalls of %v, %d steps and %v", c.given, order.Stall, order.Steps, order.Within)
		}
		header := trace.Header{Options: trace.Options{Steps: order.Steps, Stall: int64(order.Stall)}}
		_, again := Again(".", &header)
		if again.stall() != c.stall || again.steps() != c.steps {
			t.Errorf("%+v is replayed with stalls of %v and %d steps", c.given, again.stall(), again.steps())
		}
	}
}
