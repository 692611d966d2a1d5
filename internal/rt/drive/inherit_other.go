//go:build !unix

package drive

// closePipesOnExec has nothing to do where programs do not inherit what they are not given.
func closePipesOnExec() {}
