//go:build !race && !asan && !msan

package tolerate

const checked = false
