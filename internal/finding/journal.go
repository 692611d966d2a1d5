package finding

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"
)

// A Journal appends findings to a file, as JSON lines, while a program runs. Each line is
// written whole when there is something to say, so nothing has to be done when the program
// ends, or is ended, to keep what was found.
//
// A line has what happened since the last line about the same finding: a log that all lines
// are added to has the sums, also of several processes that share the file. A finding that
// is seen again and again is written more and more rarely, and once more by Flush:
//
//	{"id":"f98c90eab58cc8c6", ... "count":1 ...}     the 1st time
//	{"id":"f98c90eab58cc8c6", ... "count":1 ...}     the 2nd
//	{"id":"f98c90eab58cc8c6", ... "count":2 ...}     the 3rd and 4th
//
// With a limit, a file that has grown to its share is renamed, FILE to FILE.1, FILE.1 to
// FILE.2, and so on, and the oldest is removed.
type Journal struct {
	Path string
	// Limit is how many bytes the file and those that it was renamed to may have together;
	// 0 means any number. A single line is written in any case.
	Limit int64

	mu      sync.Mutex
	file    *os.File
	written map[ID]History // what the lines of this process say
	failed  error
}

// rotated is how many files there are beside the one that is written to.
const rotated = 3

// Open opens the file, which is made if there is none.
func (j *Journal) Open() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.open()
}

func (j *Journal) open() error {
	f, err := os.OpenFile(j.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("opening the file for findings: %w", err)
	}
	if err := mendEnd(f); err != nil {
		return errors.Join(fmt.Errorf("opening the file for findings: %w", err), f.Close())
	}
	if j.file != nil {
		_ = j.file.Close() // all that was written to it has been written
	}
	j.file = f
	return nil
}

// mendEnd cuts off a last line that has no end: the machine stopped while it was written.
func mendEnd(f *os.File) error {
	const step = 1 << 12
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	for end := info.Size(); end > 0; {
		begin := max(0, end-step)
		text := make([]byte, end-begin)
		if _, err := f.ReadAt(text, begin); err != nil && err != io.EOF {
			return err
		}
		if last := bytes.LastIndexByte(text, '\n'); last >= 0 || begin == 0 {
			if whole := begin + int64(last) + 1; whole < info.Size() {
				return f.Truncate(whole)
			}
			return nil
		}
		end = begin
	}
	return nil
}

// Note writes a line if the finding, with all its repeats so far, is new or was seen twice as
// often as the lines say.
func (j *Journal) Note(f Finding) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if f.Count < 2*j.written[f.ID()].Count {
		return nil
	}
	return j.append(f)
}

// Flush writes what no line says yet.
func (j *Journal) Flush(findings []Finding) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all error
	for _, f := range findings {
		all = errors.Join(all, j.append(f))
	}
	return all
}

// append writes a line for what happened since the last one. After an error nothing is
// written any more, so that it is reported once.
func (j *Journal) append(f Finding) error {
	id := f.ID()
	before := j.written[id]
	if j.failed != nil || f.Count <= before.Count {
		return nil
	}
	total := f.History
	f.History = total.since(before)
	var line bytes.Buffer
	err := WriteJSON(&line, []Finding{f})
	if err == nil {
		err = j.room(int64(line.Len()))
	}
	if err == nil {
		_, err = j.file.Write(line.Bytes())
	}
	if err != nil {
		j.failed = fmt.Errorf("writing findings: %w", err)
		return j.failed
	}
	if j.written == nil {
		j.written = make(map[ID]History)
	}
	j.written[id] = total
	return nil
}

// since returns what happened after an earlier state of the history. The longest wait is that
// of all times: the greatest of several lines is what it was.
func (h History) since(earlier History) History {
	h.Count -= earlier.Count
	for _, o := range outcomes {
		*h.Outcomes.of(o) -= earlier.Outcomes.Of(o)
	}
	h.Waited -= earlier.Waited
	if earlier.Last != (time.Time{}) {
		h.First = earlier.Last
	}
	return h
}

// room sees to it that a line can be appended to the file of that name, which another process
// may have renamed.
func (j *Journal) room(line int64) error {
	mine, err := j.file.Stat()
	if err != nil {
		return err
	}
	if !mine.Mode().IsRegular() {
		return nil
	}
	current, err := os.Stat(j.Path)
	if err != nil || !os.SameFile(mine, current) {
		return j.open()
	}
	if j.Limit == 0 || current.Size() == 0 || current.Size()+line <= j.Limit/(rotated+1) {
		return nil
	}
	if err := j.file.Close(); err != nil { // Windows renames no file that is open
		return err
	}
	j.file = nil
	for i := rotated; i > 0; i-- {
		from := j.Path
		if i > 1 {
			from = j.rotation(i - 1)
		}
		if err := os.Rename(from, j.rotation(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return j.open()
}

func (j *Journal) rotation(i int) string { return j.Path + "." + strconv.Itoa(i) }
