// Package team runs the goroutines of a STAMP program.
package team

import "sync"

// Run calls f once for each member of a team, 0 to size-1, in a goroutine of its
// own, and returns when all have. One call after another is a barrier in between.
func Run(size int, f func(member int)) {
	var all sync.WaitGroup
	for member := range size {
		all.Go(func() { f(member) })
	}
	all.Wait()
}

// Share returns the part of n things that falls to a member: from first up to, but
// not including, last.
func Share(n, member, size int) (first, last int) {
	return n * member / size, n * (member + 1) / size
}
