package campaign

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A redelivery is the message of a lease that was delivered so many times.
type redelivery struct {
	jetstream.Msg
	message      *nats.Msg
	times        uint64
	acknowledged bool
}

func (m *redelivery) Data() []byte         { return m.message.Data }
func (m *redelivery) Headers() nats.Header { return m.message.Header }
func (m *redelivery) InProgress() error    { return nil }
func (m *redelivery) Ack() error           { m.acknowledged = true; return nil }

func (m *redelivery) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{NumDelivered: m.times}, nil
}

// TestALeaseThatIsDeliveredAgainIsDoneOnceAndNotForEver: one whose result has come is not done again, and
// one from which no worker came back is given up, and told.
func TestALeaseThatIsDeliveredAgainIsDoneOnceAndNotForEver(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.withStore(t, func(dir *Dir, store *Store) {
		public, err := dir.Key.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		done := map[string]int{}
		w := NewWorker(store, WorkerOptions{Name: "w", Trusted: []string{public}, Do: func(_ context.Context, l *Lease, _ *Result) error {
			done[l.ID]++
			return nil
		}})
		deliver := func(id string, times uint64) *Result {
			t.Helper()
			m, err := signed("x", &Lease{ID: id, Task: Recheck, Target: "target"}, dir.Key)
			if err != nil {
				t.Fatal(err)
			}
			again := &redelivery{message: m, times: times}
			w.lease(t.Context(), again, &slotHands{})
			raw, err := store.results.GetLastMsgForSubject(t.Context(), (&Result{Target: "target", Lease: id}).subject(store.Prefix))
			if err != nil || !again.acknowledged {
				t.Fatalf("lease %s at delivery %d: acknowledged %v, result %v", id, times, again.acknowledged, err)
			}
			r, err := store.decodeResult(t.Context(), raw.Data)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		for times := range uint64(3) {
			if r := deliver("one", times+1); r.Trouble != "" || done["one"] != 1 {
				t.Errorf("at delivery %d the lease was done %d times, with the trouble %q", times+1, done["one"], r.Trouble)
			}
		}
		if r := deliver("two", mostDeliveries); r.Trouble != "" || done["two"] != 1 {
			t.Errorf("at the last delivery: %+v", r)
		}
		if r := deliver("three", mostDeliveries+1); !strings.Contains(r.Trouble, "did not come back") || done["three"] != 0 {
			t.Errorf("after it: %+v", r)
		}
	})
}
