package filescan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

var variants = []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate}

func TestScanFindsWhatWasPlanted(t *testing.T) {
	corpus, err := plant(t.TempDir(), 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range variants {
		for _, workers := range []int{1, 2, 7} {
			s := New(v, workers)
			found, err := s.Scan(corpus.root)
			if err != nil || found != corpus.counts {
				t.Errorf("%s, %d workers: found %v, %v; planted %v", v, workers, found, err, corpus.counts)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCorpusIsTheSameEverywhere(t *testing.T) {
	corpus, err := plant(t.TempDir(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Counts{278, 238, 276, 312, 280}); corpus.counts != want {
		t.Errorf("100 files hold %v; %v before", corpus.counts, want)
	}
}

func TestScanOfNothingFindsNothing(t *testing.T) {
	for _, v := range variants {
		s := New(v, 2)
		if found, err := s.Scan(t.TempDir()); found != (Counts{}) || err != nil {
			t.Errorf("%s: %v, %v", v, found, err)
		}
		s.Close()
	}
}

func TestScanReportsAMissingRoot(t *testing.T) {
	for _, v := range variants {
		s := New(v, 2)
		if _, err := s.Scan(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", v, err)
		}
		s.Close()
	}
}

func TestScanRefusesNamesThatDoNotFit(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, strings.Repeat("a", 200), strings.Repeat("b", 200))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "c"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, v := range variants {
		s := New(v, 2)
		if _, err := s.Scan(root); err == nil || !strings.Contains(err.Error(), "do not fit") {
			t.Errorf("%s: %v", v, err)
		}
		s.Close()
	}
}

// The producer must not wait for workers that have given up.
func TestWorkGoesOnAfterAFileThatCannotBeRead(t *testing.T) {
	for _, v := range variants {
		s := New(v, 1)
		go func() {
			defer s.queue.close()
			for range 3 * slots {
				s.queue.put("missing")
			}
		}()
		if _, err := s.work(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", v, err)
		}
		s.Close()
	}
}

func TestCleanupRemovesTheCorpus(t *testing.T) {
	corpus, err := corpusOf(3)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := corpusOf(3); again != corpus {
		t.Error("the same corpus was made twice")
	}
	if err := Cleanup(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(corpus.root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the corpus is still there: %v", err)
	}
}
