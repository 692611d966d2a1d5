package source

import "github.com/rogpeppe/go-internal/diff"

// Diff returns the difference between two texts of a file as a unified diff, which patch and
// git apply; nil if there is none. The name has slashes, and is relative to where the diff
// is to be applied.
func Diff(name string, before, after []byte) []byte {
	return diff.Diff("a/"+name, before, "b/"+name, after)
}
