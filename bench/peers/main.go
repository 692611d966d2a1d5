// Command peers runs the micro-benchmarks of bench stm with another STM library,
// github.com/anacrolix/stm. Two more, github.com/tiancaiamao/stm and
// lukechampine.com/stm, are not served by the module proxy.
//
// It is a child of bench stm and speaks its lines of JSON: see the requests and
// replies in bench/transactions/worker.go, and the loops in micro.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"github.com/anacrolix/stm"
)

type request struct {
	Do   string `json:"do"`
	Case string `json:"case"`
	Ops  int    `json:"ops"` // of the case
}

type reply struct {
	Error    string             `json:"error,omitempty"`
	Seconds  float64            `json:"seconds,omitempty"`
	Counters map[string]float64 `json:"counters,omitempty"`
}

// A shape is a micro-benchmark. A trial does one in slower of the operations of the
// case.
type shape struct {
	goroutines int
	loop       func(b *bank, n, g int)
}

const slower = 20

var shapes = map[string]shape{
	"read 10, goroutines 1":    {1, (*bank).readTen},
	"counter, goroutines 1":    {1, (*bank).count},
	"counter, goroutines 2":    {2, (*bank).count},
	"transfer, goroutines 1":   {1, (*bank).transfer},
	"transfer, goroutines 2":   {2, (*bank).transfer},
	"read 1,000, goroutines 1": {1, (*bank).readThousand},
}

func main() {
	signal.Ignore(os.Interrupt)
	dec, enc := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var b *bank
	var sh shape
	each := 0 // operations of a goroutine
	for {
		var r request
		if err := dec.Decode(&r); err != nil {
			return
		}
		var answer reply
		switch r.Do {
		case "prepare":
			var ok bool
			if sh, ok = shapes[r.Case]; !ok {
				answer.Error = fmt.Sprintf("the peer knows no %q", r.Case)
				break
			}
			b, each = newBank(), r.Ops/slower/sh.goroutines
			runtime.GC()
		case "run":
			answer.Seconds, answer.Counters = sh.run(b, each)
		case "close":
			if err := b.check(each * sh.goroutines); err != nil {
				answer.Error = "anacrolix: " + err.Error()
			}
		default:
			answer.Error = fmt.Sprintf("the peer cannot %q", r.Do)
		}
		if err := enc.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}

func (sh shape) run(b *bank, n int) (seconds float64, counters map[string]float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	var all sync.WaitGroup
	for g := range sh.goroutines {
		all.Go(func() { sh.loop(b, n, g) })
	}
	all.Wait()
	seconds = time.Since(start).Seconds() * slower
	runtime.ReadMemStats(&after)
	return seconds, map[string]float64{"allocations": float64(after.Mallocs-before.Mallocs) / float64(n*sh.goroutines)}
}

// A bank is the variables of the micro-benchmarks.
type bank struct {
	ten      [10]*stm.Var[int]
	counter  *stm.Var[int]
	counted  bool
	accounts [1000]*stm.Var[int]
	total    *stm.Var[int]
	totalled bool
}

const deposit = 1_000_000

func newBank() *bank {
	b := &bank{counter: stm.NewVar(0), total: stm.NewVar(0)}
	for i := range b.ten {
		b.ten[i] = stm.NewVar(i)
	}
	for i := range b.accounts {
		b.accounts[i] = stm.NewVar(deposit)
	}
	return b
}

func (b *bank) check(n int) error {
	sum := 0
	for _, a := range b.accounts {
		sum += stm.AtomicGet(a)
	}
	switch {
	case sum != len(b.accounts)*deposit:
		return fmt.Errorf("the accounts hold %d", sum)
	case b.counted && stm.AtomicGet(b.counter) != n:
		return fmt.Errorf("the counter is %d after %d increments", stm.AtomicGet(b.counter), n)
	case b.totalled && stm.AtomicGet(b.total) != sum:
		return fmt.Errorf("the total is %d, and the accounts hold %d", stm.AtomicGet(b.total), sum)
	}
	return nil
}

func (b *bank) readTen(n, _ int) {
	for range n {
		stm.Atomically(func(tx *stm.Tx) int {
			sum := 0
			for _, v := range b.ten {
				sum += v.Get(tx)
			}
			return sum
		})
	}
}

func (b *bank) count(n, g int) {
	if g == 0 {
		b.counted = true
	}
	for range n {
		stm.Atomically(stm.VoidOperation(func(tx *stm.Tx) { b.counter.Set(tx, b.counter.Get(tx)+1) }))
	}
}

func (b *bank) transfer(n, g int) {
	const quarter = 250
	r := uint64(g + 1)
	for range n {
		r ^= r << 13
		r ^= r >> 7
		r ^= r << 17
		stm.Atomically(stm.VoidOperation(func(tx *stm.Tx) {
			amount := -1
			for i := range 4 {
				v := b.accounts[i*quarter+int(r>>(16*i)&0xffff%quarter)]
				v.Set(tx, v.Get(tx)+amount)
				amount = -amount
			}
		}))
	}
}

func (b *bank) readThousand(n, _ int) {
	b.totalled = true
	for range n {
		stm.Atomically(stm.VoidOperation(func(tx *stm.Tx) {
			sum := 0
			for _, v := range b.accounts {
				sum += v.Get(tx)
			}
			b.total.Set(tx, sum)
		}))
	}
}
