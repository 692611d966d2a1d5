package transactions

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A ledger is a file with the cases that were measured, one line for each. STAMP's native sets
// take hours: a run that was left, by an interrupt or because the machine was wanted, is taken
// up with the same file, and measures what is not in it.
//
// A case counts if this very program has measured it, with as many rounds: what was measured
// before a change says nothing about what there is now.
type ledger struct {
	file string
	run  string // names the program, and how it measures
	kept map[string]measure.Result
}

// An entry is a line.
type entry struct {
	Run    string         `json:"run"`
	Result measure.Result `json:"result"`
}

// openLedger reads a ledger; there is an empty one if there is no file yet, or none is wanted.
func openLedger(file, run string) (ledger, error) {
	l := ledger{file: file, run: run, kept: make(map[string]measure.Result)}
	if file == "" {
		return l, nil
	}
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("reading what was measured before: %w", err)
	}
	defer f.Close()
	lines := json.NewDecoder(bufio.NewReader(f))
	for {
		whole := lines.InputOffset()
		var e entry
		switch err := lines.Decode(&e); err {
		case nil:
			if e.Run == run {
				l.kept[e.Result.String()+e.Result.Figure] = e.Result
			}
		case io.EOF:
			return l, nil
		case io.ErrUnexpectedEOF: // the run was ended while it wrote the last line
			return l, os.Truncate(file, whole)
		default:
			return l, fmt.Errorf("%s is not what this command has written: %w; name another file", file, err)
		}
	}
}

// has returns what was measured of a case before.
func (l ledger) has(c measure.Case) (measure.Result, bool) {
	r, ok := l.kept[c.String()+c.Figure]
	return r, ok
}

// add writes a result down, in the place of what was known of its case before.
func (l ledger) add(r measure.Result) error {
	if l.kept != nil {
		l.kept[r.String()+r.Figure] = r
	}
	if l.file == "" {
		return nil
	}
	line, err := json.Marshal(entry{l.run, r})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("writing down what was measured: %w", err)
	}
	_, err = f.Write(append([]byte{'\n'}, line...))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// thisRun names this program, by what it consists of, and how it measures.
func (o *options) thisRun() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %d", hex.EncodeToString(sum.Sum(nil))[:16], o.size, o.runs), nil
}
