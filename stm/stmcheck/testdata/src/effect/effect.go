// want package:"analyzed"

// Package effect has transactions that do what cannot be undone.
package effect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/transactions/src/helper"
	"github.com/cofferdam-go/cofferdam/isolate"
	"github.com/cofferdam-go/cofferdam/stm"
)

var (
	mu    sync.Mutex
	rw    sync.RWMutex
	once  sync.Once
	wg    sync.WaitGroup
	count atomic.Int64
	x     int
)

func mustReport(tx *stm.Tx, c chan int, w io.Writer, l sync.Locker, table *helper.Table, im *isolate.Mutex) {
	c <- 1        // want `this sends to a channel inside a transaction`
	<-c           // want `this receives from a channel inside a transaction`
	v, ok := <-c  // want `this receives from a channel inside a transaction`
	for range c { // want `this loop can go round without a checkpoint` `this receives from a channel`
	}
	select { // want `this waits in a select inside a transaction`
	case c <- 1:
	case v = <-c:
	}
	close(c)            // want `this closes a channel inside a transaction`
	go fmt.Print(v, ok) // want `this starts a goroutine inside a transaction`
	mu.Lock()           // want `this calls sync.Mutex.Lock inside a transaction, but a transaction that is given up`
	mu.Unlock()
	mu.TryLock()                  // want `this calls sync.Mutex.TryLock`
	rw.RLock()                    // want `this calls sync.RWMutex.RLock`
	l.Lock()                      // want `this calls sync.Locker.Lock`
	im.Lock()                     // want `this calls Mutex.Lock`
	once.Do(func() {})            // want `this calls sync.Once.Do`
	wg.Wait()                     // want `this calls sync.WaitGroup.Wait`
	wg.Go(func() {})              // want `this calls sync.WaitGroup.Go inside a transaction, but each attempt starts another`
	time.Sleep(1)                 // want `this calls time.Sleep`
	fmt.Println(v)                // want `this calls fmt.Println inside a transaction, but it is done by every attempt`
	fmt.Fprintln(w, v)            // want `this calls fmt.Fprintln`
	io.WriteString(w, "")         // want `this calls io.WriteString`
	w.Write(nil)                  // want `this calls io.Writer.Write`
	log.Print(v)                  // want `this calls log.Print`
	println(v)                    // want `this prints inside a transaction`
	os.Remove("f")                // want `this calls os.Remove`
	defer os.Stdout.Close()       // want `this calls os.File.Close`
	helper.Print("")              // want `Print calls fmt.Println \(helper.go:\d+\), which is not undone`
	helper.Deep("")               // want `Deep calls fmt.Println \(helper.go:\d+\), which is not undone`
	table.Get("")                 // want `Get calls sync.Mutex.Lock \(helper.go:\d+\), which is not undone`
	local()                       // want `local starts a goroutine`
	through()                     // want `through calls fmt.Println`
	f := func() { fmt.Println() } // want `this calls fmt.Println`
	f()
	if v == 1 {
		runtime.Goexit() // want `this calls runtime.Goexit inside a transaction, but nothing can stop it`
	}
	if v == 0 {
		tx.Irrevocable()
	}
	fmt.Println() // want `this calls fmt.Println`
}

func local() { go func() {}() }

func through() { defer func() { helper.Print("") }() }

func mustNotReport(tx *stm.Tx, c chan int, err error, s []int) {
	select {
	case c <- 1:
	default:
	}
	count.Add(1)
	var b bytes.Buffer
	var sb strings.Builder
	fmt.Fprintf(&b, "%d", 1)
	fmt.Fprintf(&sb, "%d", 1)
	_ = fmt.Sprint(helper.Format(1), errors.Is(err, os.ErrNotExist), os.Getenv("HOME"), os.IsNotExist(err), len(c))
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	tx.OnCommit(func() { fmt.Println(); c <- 1; mu.Lock() })
	done := func() { fmt.Println() }
	tx.OnCommit(done)
	tx.OnAbort(helper.Later("gone"))
	tx.OnAbort(func() { helper.Print("") })
	if stm.Load(tx, &x) == 0 {
		tx.Irrevocable()
		fmt.Println()
		mu.Lock()
		func() { c <- 1 }()
		return
	}
	helper.Alone(tx)
	helper.Print("")
	<-c
}

func roots(ctx context.Context, o stm.Options) {
	stm.Atomically(func(tx *stm.Tx) error {
		fmt.Println() // want `this calls fmt.Println`
		return nil
	})
	o.Atomically(func(tx *stm.Tx) error {
		fmt.Println() // want `this calls fmt.Println`
		return ctx.Err()
	})
	stm.Value(func(tx *stm.Tx) (int, error) {
		fmt.Println() // want `this calls fmt.Println`
		return 0, nil
	})
	stm.ValueWith(o, func(tx *stm.Tx) (int, error) {
		return 0, stm.OrElse(tx, named, func(tx *stm.Tx) error {
			fmt.Println() // want `this calls fmt.Println`
			return nil
		})
	})
	stm.Atomically(named)
	fmt.Println()
	mu.Lock()
}

func named(*stm.Tx) error {
	fmt.Println() // want `this calls fmt.Println`
	return nil
}
