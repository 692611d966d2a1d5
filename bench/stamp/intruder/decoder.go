package intruder

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/stamp/container"
)

// A decoder is what the goroutines of a run share: the packets that have arrived, the
// flows of which some have been seen, and those that are complete.
type decoder struct {
	arrived  container.Queue[*packet]
	partial  container.Tree[*fragments] // by flow
	complete container.Queue[*flow]
}

// fragments are the packets of a flow that have been seen, by number.
type fragments = container.List[*packet]

// A flow is one that is complete. It never changes.
type flow struct {
	id   int
	data []byte
}

// prepare makes the state of a run.
func (in *Input) prepare() *decoder {
	d := &decoder{}
	for i := range in.packets {
		d.arrived.Push(&in.packets[i])
	}
	return d
}

// duplicate is the panic of a packet that arrived twice. None does: a transaction
// that meets one is doomed, and is run again.
func duplicate(p *packet) string {
	return fmt.Sprintf("intruder: fragment %d of flow %d arrived twice", p.fragment, p.flow)
}
