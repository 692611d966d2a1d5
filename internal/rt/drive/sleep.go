package drive

import "time"

// sleep is Config.Sleep of runs.
func sleep(nanoseconds int64) (worked int64, busy bool) {
	before := processorTime()
	time.Sleep(time.Duration(nanoseconds))
	worked = processorTime() - before
	// Where the process had a processor nearly all the time it makes no difference.
	return worked, worked < nanoseconds-nanoseconds/8 && threadsBusy()
}
