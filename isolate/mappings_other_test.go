//go:build !linux

package isolate_test

// exhaustMappings is for a test of protection, which there is none of here.
func exhaustMappings() (giveBack func()) { return func() {} }
