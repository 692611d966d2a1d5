package tolerate

import "time"

// For the tests, which are outside the package, so that findings name them.
var Classify = classify

const Checked = checked

// OnDelay sets what is called when a write begins to wait for a section, and for how long it waits.
func OnDelay(f func(), longest time.Duration) (restore func()) {
	oldCall, oldLongest := beginsToWait, longestDelay
	beginsToWait, longestDelay = f, longest
	return func() { beginsToWait, longestDelay = oldCall, oldLongest }
}
