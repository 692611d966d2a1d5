package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// OpenLocal starts the server of a state directory in this process, and opens its store. If its files
// cannot be used they are moved aside, which is told, and the store begins anew: findings are taken
// from findings.json, and searches start over.
func OpenLocal(ctx context.Context, dir *Dir, size int64, l Listening, told func(string)) (*Server, *Store, error) {
	server, store, err := dir.open(ctx, size, l)
	if err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrPermission) {
		return server, store, err
	}
	if _, stat := os.Stat(dir.file("store")); stat != nil {
		return nil, nil, err
	}
	// A disk that is full is no damage.
	if probe := dir.probe(); probe != nil {
		return nil, nil, probe
	}
	aside := dir.file("store.damaged-" + time.Now().UTC().Format("20060102T150405.000000000"))
	if rename := os.Rename(dir.file("store"), aside); rename != nil {
		return nil, nil, errors.Join(err, rename)
	}
	told(fmt.Sprintf("the store of the campaign is damaged (%v); it was moved to %s, and a new one is made", err, aside))
	return dir.open(ctx, size, l)
}

// probeSize is how much a disk has to have room for: more than the server writes when it starts.
const probeSize = 256 << 10

// probe reports why nothing can be written to the directory; nil if something can.
func (d *Dir) probe() error {
	if err := writeFile(d.file("probe"), make([]byte, probeSize), 0o666); err != nil {
		return &UnwritableError{Dir: d.Path, Err: err}
	}
	return os.Remove(d.file("probe"))
}

// open starts the server, and opens the store.
func (d *Dir) open(ctx context.Context, size int64, l Listening) (*Server, *Store, error) {
	server, err := StartServer(d.file("store"), size, l)
	if err != nil {
		return nil, nil, err
	}
	nc, err := (&Connection{Server: server, Token: l.Token, Name: "coordinator"}).Connect(ctx)
	if err != nil {
		server.Close()
		return nil, nil, err
	}
	store, err := OpenStore(ctx, nc, LocalPrefix, 1)
	if err == nil {
		err = store.renewWork(ctx) // which damaged files do not allow
	}
	if err != nil {
		nc.Close()
		server.Close()
		return nil, nil, err
	}
	return server, store, nil
}

// LocalPrefix is that of a campaign whose server is its own.
const LocalPrefix = "cofferdam"

// Close ends the connection of a store.
func (s *Store) Close() { s.nc.Close() }

// A Problem is something wrong with a state directory.
type Problem struct {
	What string
	// Then is what the next campaign does about it.
	Then string
}

// Checked is what there is in a state directory.
type Checked struct {
	Targets, Findings, Traces, Results int
	Size                               int64
	Problems                           []Problem
}

// Check looks whether everything in a state directory can be read. It changes nothing but what the
// server does when it starts.
func Check(ctx context.Context, dir *Dir) (*Checked, error) {
	out := &Checked{}
	var err error
	if out.Size, err = dirSize(dir.Path); err != nil {
		return nil, err
	}
	server, store, err := dir.open(ctx, 0, Listening{})
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		out.Problems = append(out.Problems, Problem{err.Error(), "it is moved aside, and searches start over"})
		return out, nil
	}
	defer server.Close()
	defer store.Close()
	for _, check := range []func(context.Context, *Dir, *Store) error{out.checkTargets, out.checkFindings, out.checkResults} {
		if err := check(ctx, dir, store); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (out *Checked) checkTargets(ctx context.Context, _ *Dir, s *Store) error {
	records, damaged, err := s.targetRecords(ctx)
	if err != nil {
		return err
	}
	out.Targets = len(records)
	for _, key := range damaged {
		out.Problems = append(out.Problems, Problem{"the record of target " + key + " cannot be read", "its search starts over"})
	}
	for _, r := range records {
		if r.value.Ledger == "" {
			continue
		}
		text, err := s.objects.GetBytes(ctx, r.value.Ledger)
		if err == nil {
			_, err = decodeLedger(text)
		}
		if err != nil {
			out.Problems = append(out.Problems, Problem{fmt.Sprintf("the ledger of %s.%s: %v", r.value.Package, r.value.Test, err), "its search starts over"})
		}
	}
	return nil
}

func (out *Checked) checkFindings(ctx context.Context, dir *Dir, s *Store) error {
	records, damaged, err := readAll[Record](ctx, s.findings)
	if err != nil {
		return err
	}
	out.Findings = len(records)
	for _, id := range damaged {
		out.Problems = append(out.Problems, Problem{"finding " + id + " cannot be read", "it is taken from findings.json"})
	}
	shown, err := ReadFindings(dir.Path)
	if err != nil && !errors.Is(err, ErrNoCampaign) {
		out.Problems = append(out.Problems, Problem{err.Error(), "it is written anew"})
	}
	for _, r := range shown {
		if records[r.ID] == nil {
			out.Problems = append(out.Problems, Problem{"finding " + r.ID + " is in findings.json, and not in the store", "it is taken from there"})
		}
	}
	for _, r := range records {
		if r.value.Trace == "" {
			continue
		}
		out.Traces++
		if is, err := contentHash(dir.file(r.value.Trace)); err != nil || is != r.value.TraceHash {
			out.Problems = append(out.Problems, Problem{fmt.Sprintf("the trace of finding %s, %s, is missing or damaged", r.value.ID, r.value.Trace), "the finding stays; cofferdam explore records another run"})
		}
	}
	return nil
}

func (out *Checked) checkResults(ctx context.Context, _ *Dir, s *Store) error {
	info, err := s.results.Info(ctx)
	if err != nil {
		return fmt.Errorf("reading results: %w", err)
	}
	out.Results = int(info.State.Msgs)
	return nil
}
