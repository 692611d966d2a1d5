// Package early starts goroutines before its tests.
package early

import (
	"sync"
	"sync/atomic"
	"time"
)

var (
	jobs   = make(chan func(), 1)
	mu     sync.Mutex
	served int
	loaded int
	ready  atomic.Bool
	warm   = make(chan bool)
)

func init() {
	go serve()
	go func() {
		loaded = 1
		ready.Store(true)
	}()
}

func serve() {
	for job := range jobs {
		job()
	}
}

// flush is what TestMain starts. Its ticker goes in the time of the run.
func flush() {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for range 2 {
		<-ticks.C
		mu.Lock()
		served = 0
		mu.Unlock()
	}
}
