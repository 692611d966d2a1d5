package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Seal completes a trace file: it adds sites and, if o is not nil, sets the outcome,
// and writes the index anew. The file may be whole, or cut off because the program
// died while it was recorded; what comes after the last whole section is then
// removed. A file that is damaged in another way is left as it is.
func Seal(path string, sites []Site, o *Outcome) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("sealing a trace: %w", err)
	}
	if err := seal(f, sites, o); err != nil {
		f.Close()
		return fmt.Errorf("sealing trace %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("sealing a trace: %w", err)
	}
	return nil
}

func seal(f *os.File, sites []Site, o *Outcome) error {
	r, err := open(f)
	if err != nil {
		return err
	}
	var cut *TruncatedError
	if errors.As(r.truncated, &cut) && cut.Cause != nil {
		return cut
	}
	if o == nil {
		if o = r.Outcome; o == nil {
			return errors.New("it has no outcome, and none is given")
		}
	}
	// If this is interrupted, a Reader finds the blocks by scanning.
	w := &Writer{w: io.NewOffsetWriter(f, r.end), offset: r.end, index: *r.index}
	if err := w.SetSites(sites); err != nil {
		return err
	}
	if err := w.Close(*o); err != nil {
		return err
	}
	return f.Truncate(w.offset)
}
