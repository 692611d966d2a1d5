package explore

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A ChangedError says that a trace is of another program than the one at hand.
type ChangedError struct {
	Package string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s has changed since the trace was recorded: its steps would not be the same; find the failure again with cofferdam explore", e.Package)
}

// Replay runs a recorded run again, in a fresh process, and compares the two event by
// event. It returns nil if they are the same up to the addresses, and otherwise where
// they part.
func (p *Program) Replay(ctx context.Context, r *trace.Reader) (*wire.Done, *trace.Difference, error) {
	if r.Header.Program != p.Hash {
		return nil, nil, &ChangedError{Package: r.Header.Package}
	}
	temp, err := scratch.Dir()
	if err != nil {
		return nil, nil, fmt.Errorf("replaying: %w", err)
	}
	defer scratch.Remove(temp)
	file := filepath.Join(temp, "again.trace")
	_, o := Again("", &r.Header)
	done, err := p.Record(ctx, r.Header.Test, r.Header.Schedule, o, file)
	if err != nil {
		return nil, nil, err
	}
	again, err := trace.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer again.Close()
	diff, err := trace.Compare(r, again)
	return done, diff, err
}
