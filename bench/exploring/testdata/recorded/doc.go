// Package recorded has tests that work long enough for the cost of recording them to be
// measured: each does one kind of thing many times over, and none has a bug.
package recorded
