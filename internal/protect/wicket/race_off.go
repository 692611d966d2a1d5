//go:build !race

package wicket

// raceBuild says that this is a build with -race.
const raceBuild = false
