//go:build !race

package page

// raceBuild says that the race detector looks on.
const raceBuild = false
