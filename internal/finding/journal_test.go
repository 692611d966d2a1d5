package finding

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// seen returns the violation of stolen as it is after so many times.
func seen(n int) Finding {
	f := stolen()
	for i := 1; i < n; i++ {
		f.merge(Once(Delayed, time.Millisecond, noon.Add(time.Duration(i)*time.Second)))
	}
	return f
}

func openJournal(t *testing.T, j *Journal) *Journal {
	t.Helper()
	if err := j.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.file.Close() })
	return j
}

func readLines(t *testing.T, name string) []Finding {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := ReadJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Two processes write to one file. At every moment the lines add up to what was noted, within
// a factor of two, and after Flush exactly.
func TestLinesOfAJournalAddUp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "found.json")
	a, b := openJournal(t, &Journal{Path: name}), openJournal(t, &Journal{Path: name})
	for n := 1; n <= 100; n++ {
		for _, j := range []*Journal{a, b} {
			if err := j.Note(seen(n)); err != nil {
				t.Fatal(err)
			}
		}
		var log Log
		lines := readLines(t, name)
		for _, f := range lines {
			log.Add(f)
		}
		if got := log.Findings()[0].Count; got > 2*uint64(n) || got <= uint64(n)-1 {
			t.Fatalf("after %d times in two processes the lines say %d", n, got)
		}
		if most := 2 * 8; len(lines) > most {
			t.Fatalf("%d lines for %d times, want %d at most", len(lines), n, most)
		}
	}
	for _, j := range []*Journal{a, b} {
		for range 2 { // the second time there is nothing to write
			if err := j.Flush([]Finding{seen(100)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var log Log
	for _, f := range readLines(t, name) {
		log.Add(f)
	}
	got, want := log.Findings()[0], seen(100)
	if got.Count != 200 || got.Outcomes.Delayed != 200 || got.Waited != 2*want.Waited || got.LongestWait != want.LongestWait || !got.First.Equal(want.First) || !got.Last.Equal(want.Last) {
		t.Errorf("the lines add up to %+v, want twice %+v", got.History, want.History)
	}
}

func TestJournalStaysWithinItsLimit(t *testing.T) {
	dir := t.TempDir()
	const limit = 16 << 10
	j := openJournal(t, &Journal{Path: filepath.Join(dir, "found.json"), Limit: limit})
	for line := 1; line <= 200; line++ {
		f := stolen()
		f.Accesses[0].Stack[0].Line = line
		if err := j.Note(f); err != nil {
			t.Fatal(err)
		}
		var size int64
		names, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size > limit {
			t.Fatalf("after %d findings the files have %d bytes, want %d at most", line, size, limit)
		}
	}
	last := 0
	for _, name := range []string{"found.json.3", "found.json.2", "found.json.1", "found.json"} {
		for _, f := range readLines(t, filepath.Join(dir, name)) {
			line := f.Accesses[0].Site().Line
			if last != 0 && line != last+1 {
				t.Errorf("line %d follows %d", line, last)
			}
			last = line
		}
	}
	if last != 200 {
		t.Errorf("the newest line is about %d, want 200", last)
	}
}

// A process finds that another one has renamed the file.
func TestJournalFollowsTheName(t *testing.T) {
	name := filepath.Join(t.TempDir(), "found.json")
	j := openJournal(t, &Journal{Path: name})
	if err := j.Note(seen(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, name+".1"); err != nil {
		t.Fatal(err)
	}
	if err := j.Note(seen(2)); err != nil {
		t.Fatal(err)
	}
	if all := readLines(t, name); len(all) != 1 || all[0].Count != 1 {
		t.Errorf("the new file has %v", all)
	}
}

func TestJournalCutsOffALineWithoutEnd(t *testing.T) {
	whole := encode(t, stolen())
	for _, before := range []string{"", whole, whole + whole} {
		name := filepath.Join(t.TempDir(), "found.json")
		if err := os.WriteFile(name, []byte(before+strings.Repeat("x", 9000)), 0o666); err != nil {
			t.Fatal(err)
		}
		openJournal(t, &Journal{Path: name})
		if text, err := os.ReadFile(name); err != nil || string(text) != before {
			t.Errorf("%d bytes are left, %v; want %d", len(text), err, len(before))
		}
	}
}

func TestJournalComplainsOnce(t *testing.T) {
	j := &Journal{Path: filepath.Join(t.TempDir(), "no", "found.json")}
	if j.Open() == nil {
		t.Error("a file in no directory is opened")
	}
	j = openJournal(t, &Journal{Path: filepath.Join(t.TempDir(), "found.json")})
	j.file.Close()
	if j.Note(seen(1)) == nil {
		t.Error("a line is written to a closed file")
	}
	if err := j.Note(seen(2)); err != nil {
		t.Errorf("a second complaint: %v", err)
	}
}
