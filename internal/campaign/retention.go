package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// tidy removes what nothing points to, and keeps the state directory within its size: first the
// traces of findings that are fixed or gone, then the ledgers of targets that no campaign has looked
// at for longest. Findings, and the traces of those that are open, are never removed.
func (c *Campaign) tidy(ctx context.Context) error {
	records, _, err := c.s.targetRecords(ctx)
	if err != nil {
		return err
	}
	if err := c.removeOrphans(ctx, records); err != nil {
		return err
	}
	if c.o.Size == 0 {
		return nil
	}
	size, err := dirSize(c.dir.Path)
	for _, give := range []func(context.Context, map[string]*versioned[TargetRecord]) (bool, error){c.giveTrace, c.giveLedger} {
		for err == nil && size > c.o.Size {
			var gave bool
			if gave, err = give(ctx, records); !gave {
				break
			}
			if err == nil {
				size, err = dirSize(c.dir.Path)
			}
		}
	}
	if err == nil && size > c.o.Size {
		c.tell(Event{Notice: fmt.Sprintf("the state directory has %.1f MB, more than -size allows, and nothing in it can be given up", float64(size)/(1<<20))})
	}
	return err
}

// removeOrphans removes ledgers that a coordinator has written and not pointed to, and programs that
// no target of this session has.
func (c *Campaign) removeOrphans(ctx context.Context, records map[string]*versioned[TargetRecord]) error {
	used := map[string]bool{}
	for _, r := range records {
		used[r.value.Ledger] = true
	}
	objects, err := c.s.objects.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("tidying the store: %w", err)
	}
	for _, o := range objects {
		if strings.HasPrefix(o.Name, "ledger-") && !used[o.Name] {
			c.s.removeObject(ctx, o.Name)
		}
	}
	return nil
}

// giveTrace gives up the oldest trace of a finding that is not open.
func (c *Campaign) giveTrace(ctx context.Context, _ map[string]*versioned[TargetRecord]) (bool, error) {
	var oldest *versioned[Record]
	for _, rec := range c.records.all {
		if !rec.value.open() && rec.value.Trace != "" && (oldest == nil || rec.value.Last.Before(oldest.value.Last)) {
			oldest = rec
		}
	}
	if oldest == nil {
		return false, nil
	}
	file := oldest.value.Trace
	oldest.value.Trace, oldest.value.TraceHash = "", ""
	if err := c.putRecord(ctx, oldest); err != nil {
		return false, err
	}
	if err := os.Remove(c.dir.file(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("tidying the state directory: %w", err)
	}
	return true, nil
}

// giveLedger gives up the ledger of the target that was looked at the longest time ago, and not in
// this session: its search begins anew should it come back.
func (c *Campaign) giveLedger(ctx context.Context, records map[string]*versioned[TargetRecord]) (bool, error) {
	var oldest *versioned[TargetRecord]
	for key, r := range records {
		here := slices.ContainsFunc(c.targets, func(t *target) bool { return t.rec.Key == key })
		if !here && r.value.Ledger != "" && (oldest == nil || r.value.Last.Before(oldest.value.Last)) {
			oldest = r
		}
	}
	if oldest == nil {
		return false, nil
	}
	name := oldest.value.Ledger
	oldest.value.Ledger, oldest.value.Build = "", ""
	version, err := put(ctx, c.s.targets, oldest.value.Key, &oldest.value, oldest.revision)
	if err != nil {
		return false, err
	}
	oldest.revision = version
	c.s.removeObject(ctx, name)
	return true, nil
}

// dirSize is how many bytes the files below a directory have.
func dirSize(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("measuring the state directory: %w", err)
	}
	return size, nil
}
