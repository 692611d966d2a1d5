// Package keeper keeps what it has made. It is a dependency, whose accesses are not seen.
package keeper

import (
	"regexp"
	"sync"
)

var (
	mu       sync.Mutex
	patterns = map[string]*regexp.Regexp{}

	counting sync.Mutex
	made     int
)

// Pattern returns a regular expression, the same one for each call.
func Pattern(text string) *regexp.Regexp {
	mu.Lock()
	defer mu.Unlock()
	if patterns[text] == nil {
		patterns[text] = regexp.MustCompile(text)
		counting.Lock()
		made++
		counting.Unlock()
	}
	return patterns[text]
}
