//go:build race || asan || msan

package tolerate

// checked says that a detector watches which bytes are accessed. Then a small
// variable is published by a plain store: the compare-and-swap would touch the
// bytes beside it, which may belong to another lock, and be reported.
const checked = true
