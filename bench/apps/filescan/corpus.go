package filescan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// A corpus is a tree of files that look like C, and the keywords in them.
type corpus struct {
	root   string
	counts Counts
}

const (
	filesPerFolder   = 80
	foldersPerFolder = 8
)

// plant makes a tree of a number of files under root. The same number makes the
// same tree everywhere.
func plant(root string, files int) (*corpus, error) {
	c := &corpus{root: root}
	var text []byte
	for i := range files {
		folder := i / filesPerFolder
		path := filepath.Join(root, fmt.Sprintf("lib%d", folder/foldersPerFolder),
			fmt.Sprintf("part%d", folder%foldersPerFolder), fmt.Sprintf("unit%04d.c", i))
		if i%filesPerFolder == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return nil, err
			}
		}
		text = write(text[:0], rand.New(rand.NewPCG(uint64(i), 0)))
		c.counts.count(text)
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// lines are what the files are made of. Each has one place for a number. Most
// hold no keyword, as in most sources.
var lines = [...]string{
	"#include \"unit%d.h\"\n",
	"static int state_%d;\n",
	"/* Returns the number of entries that were visited so far, or %d. */\n",
	"int visit(struct node *n, int depth) {\n\tif (n == NULL || depth > %d)\n\t\treturn 0;\n",
	"\tfor (size_t i = 0; i < count; i++)\n\t\ttotal += table[i].weight * %d;\n",
	"\twhile (cursor->next != NULL && cursor->key < %d)\n\t\tcursor = cursor->next;\n",
	"\tif (length >= sizeof(buffer) - %d)\n\t\treturn -ENOSPC;\n",
	"\tentry->flags |= FLAG_%d;\n",
	"\treturn state_%d;\n}\n\n",
	"\tstruct node *n = malloc(sizeof *n + %d);\n",
	"\tif (n == NULL)\n\t\tgoto out_%d;\n",
	"\tstrcpy(entry->name, names[%d]);\n",
	"static volatile int ready_%d;\n",
	"\t/* FIXME: %d is a guess. */\n",
}

// rare is the first line that holds a keyword.
const rare = 9

// write appends a file of some kilobytes.
func write(text []byte, random *rand.Rand) []byte {
	for size := 4000 + random.IntN(20_000); len(text) < size; {
		line := lines[random.IntN(rare)]
		if random.IntN(20) == 0 {
			line = lines[rare+random.IntN(len(lines)-rare)]
		}
		text = fmt.Appendf(text, line, random.IntN(1000))
	}
	return text
}

// corpora are the trees of this process, by their number of files.
var corpora struct {
	mu     sync.Mutex
	byFile map[int]*corpus
}

// corpusOf returns the tree of a number of files, which it plants in a temporary
// folder when it is asked for the first time.
func corpusOf(files int) (*corpus, error) {
	corpora.mu.Lock()
	defer corpora.mu.Unlock()
	if c := corpora.byFile[files]; c != nil {
		return c, nil
	}
	root, err := os.MkdirTemp("", "cofferdam-filescan-")
	if err != nil {
		return nil, fmt.Errorf("making files to scan: %w", err)
	}
	c, err := plant(root, files)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making files to scan: %w", err), os.RemoveAll(root))
	}
	if corpora.byFile == nil {
		corpora.byFile = map[int]*corpus{}
	}
	corpora.byFile[files] = c
	return c, nil
}

// Cleanup removes the trees that this process has made.
func Cleanup() error {
	corpora.mu.Lock()
	defer corpora.mu.Unlock()
	var failed error
	for _, c := range corpora.byFile {
		failed = errors.Join(failed, os.RemoveAll(c.root))
	}
	corpora.byFile = nil
	return failed
}
