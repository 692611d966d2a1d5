// Command objects makes many objects with a lock each, has sections on them in random order, and prints what memory
// the process has then and how long a section takes a processor. It knows nothing of protection.
//
//	main.go               the program
//	plain.go, padded.go   objects as they are, and as large as isolated ones
package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// An account is what a server has many of.
type account struct {
	_       padding
	mu      sync.Mutex
	balance int64
	moves   int64
	owner   string
}

func (a *account) deposit(n int64) {
	a.mu.Lock()
	a.balance += n
	a.moves++
	a.mu.Unlock()
}

func (a *account) transfer(to *account, n int64) {
	a.mu.Lock()
	if a.balance < n {
		a.mu.Unlock()
		return
	}
	a.balance -= n
	a.moves++
	a.mu.Unlock()
	to.deposit(n)
}

// The arguments are how many objects, and how many sections.
func main() {
	objects, _ := strconv.Atoi(os.Args[1])
	sections, _ := strconv.Atoi(os.Args[2])
	all := make([]*account, objects)
	for i := range all {
		all[i] = &account{owner: "somebody"}
		all[i].deposit(1)
	}
	debug.FreeOSMemory()
	resident := memory()
	begin := processorTime()
	var wg sync.WaitGroup
	wg.Go(func() {
		random := rand.New(rand.NewPCG(1, 2))
		for range sections / 2 {
			all[random.IntN(objects)].transfer(all[random.IntN(objects)], 1)
		}
	})
	wg.Wait()
	report := struct {
		Bytes int
		Nanos float64
		Moves int64
	}{Bytes: resident, Nanos: (processorTime() - begin) / float64(sections)}
	for _, a := range all {
		a.mu.Lock()
		report.Moves += a.moves
		a.mu.Unlock()
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// processorTime returns for how many nanoseconds threads of the process have run. What other processes do adds less to
// it than to the time by the clock.
func processorTime() float64 {
	sum := 0.0
	threads, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, name := range threads {
		if text, err := os.ReadFile(name); err == nil {
			ran, _, _ := strings.Cut(string(text), " ")
			n, _ := strconv.ParseFloat(ran, 64)
			sum += n
		}
	}
	return sum
}

// memory returns how many bytes of the process are in memory.
func memory() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize()
}
