package wicket_test

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// TestASectionWaitsForTheSectionThatHasUsedTheNodeUnderAnotherLock: a lock keeps two sections apart if both take it. A section that
// reaches a node under the lock of another object is careless.
func TestASectionWaitsForTheSectionThatHasUsedTheNodeUnderAnotherLock(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	for name, uses := range map[string][2]uint64{"to write what is read": {readN, writeN}, "to read what is written": {writeN, readN}, "to write what is written": {writeN, writeN}} {
		t.Run(name, func(t *testing.T) {
			l, wrong, o := new(list), new(list), new(node)
			all := findings(func() {
				var s wicket.Section
				l.mu.Lock()
				s.Lock()
				o.use(&s, uses[0])
				ended := sleeping(t, func() {
					var s wicket.Section
					wrong.mu.Lock()
					s.Lock()
					o.use(&s, uses[1])
					if !o.x.IsStampedBy(&s) {
						t.Error("the section that has waited has not the node")
					}
					s.Leave()
					wrong.mu.Unlock()
					s.Wake()
				})
				if !o.x.IsStampedBy(&s) {
					t.Error("the section has lost the node")
				}
				s.Leave()
				l.mu.Unlock()
				s.Wake()
				await.Receive(t, "the other section", ended)
			})
			if len(all) != 1 || all[0].Outcomes.Delayed == 0 || all[0].Outcomes.Surrendered > 0 {
				t.Errorf("findings are %v", all)
			}
		})
	}
}
