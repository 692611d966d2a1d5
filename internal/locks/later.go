package locks

import "strings"

// laterNames are how packages of the field call functions that run their callbacks later,
// or on another goroutine.
var laterNames = []string{"Go", "TryGo", "AfterFunc", "Handle", "HandleFunc", "HandlerFunc", "Submit", "Schedule", "Spawn",
	"Async", "Notify", "SetFinalizer", "AddCleanup", "Cleanup", "Subscribe", "On", "Register", "RegisterFunc", "OnceFunc"}

// RunsLater reports whether a function whose body is not at hand runs its callbacks later,
// or on another goroutine, going by its name. All others are taken to run them before they
// return, as sort.Slice and heap.Push do.
func RunsLater(name string) bool {
	for _, word := range laterNames {
		if name == word || len(word) > 2 && strings.HasPrefix(name, word) {
			return true
		}
	}
	return false
}
