package wicket_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// TestAnInterruptedSectionKeepsNothing: it may not go on, because the code that it was interrupted for panics or returns.
func TestAnInterruptedSectionKeepsNothing(t *testing.T) {
	o := new(node)
	var s wicket.Section
	s.Lock()
	o.use(&s, writeN).n = 1
	s.Unlock()
	if !wicket.SlotsAreFree() {
		t.Error("the section has kept its slot")
	}
}

// TestASectionThatIsResumedStampsNodes: it was interrupted, or it is the next of a function in which some relent.
func TestASectionThatIsResumedStampsNodes(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	for name, end := range map[string]func(*wicket.Section){
		"interrupted": (*wicket.Section).Unlock,
		"ended":       func(s *wicket.Section) { s.Leave(); s.Wake() },
	} {
		o := new(node)
		var s wicket.Section
		s.Lock()
		end(&s)
		s.Resume()
		if o.use(&s, writeN); !o.x.IsStampedBy(&s) {
			t.Errorf("%s: the section does not stamp", name)
		}
		s.LeaveMine()
		if !wicket.SlotsAreFree() {
			t.Errorf("%s: a slot is not free", name)
		}
	}
}
