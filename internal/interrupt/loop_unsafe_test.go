//go:build linux && amd64

package interrupt

import (
	"reflect"
	"testing"
)

// wide is more words than are assigned one by one.
type wide [100]string

// looping are functions that defer something, which sees what they assign to in a loop.
var looping = map[string]struct {
	f func(n int, texts []string, values []wide)
	// ended: its loop can be ended where it begins.
	ended bool
}{
	"a sum": {func(n int, _ []string, _ []wide) {
		sum := 0
		defer func() { counted = sum }()
		for i := range n {
			sum += i
		}
	}, true},
	"nothing": {func(n int, _ []string, _ []wide) {
		defer func() { counted = n }()
		for i := 0; i != n*n; {
			i += 2
		}
	}, true},
	"two numbers": {func(n int, _ []string, _ []wide) {
		sum, product := 0, 1
		defer func() { counted = sum + product }()
		for i := range n {
			sum += i
			product *= i
		}
	}, false},
	"a string": {func(n int, texts []string, _ []wide) {
		text := ""
		defer func() { counted = len(text) }()
		for i := 0; i < n; i++ {
			text = texts[i&1]
		}
	}, false},
	"a large value": {func(n int, _ []string, values []wide) {
		var value wide
		defer func() { counted = len(value[0]) }()
		for i := 0; i < n; i++ {
			value = values[i&1]
		}
	}, false},
	"what a call returns": {func(n int, _ []string, _ []wide) {
		sum := 0
		defer func() { counted = sum }()
		for i := range n {
			sum = turn(i)
		}
	}, false},
}

// TestLoopsAreEndedBetweenAssignments: where more than a word is assigned to, or something is called,
// there is no place for it.
func TestLoopsAreEndedBetweenAssignments(t *testing.T) {
	if !Supported() {
		t.Fatal("not supported")
	}
	for name, test := range looping {
		entry := reflect.ValueOf(test.f).Pointer()
		f, _ := describe(entry)
		ended := 0
		for pc := entry; pc < endOf(header(), f, entry); pc++ {
			if loopOf(pc) != 0 {
				ended++
			}
		}
		if f.deferreturn == 0 || test.ended != (ended > 0) {
			t.Errorf("%s: %d program counters are in a loop that can be ended", name, ended)
		}
	}
}
