package pairs

import (
	"bufio"
	"bytes"
	"container/list"
	"hash/crc32"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// both runs f and g at the same time.
func both(f, g func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Go(g)
	wg.Wait()
}

// locked runs f and g at the same time, but for a lock.
func locked(f, g func()) {
	var mu sync.Mutex
	hold := func(f func()) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
	}
	both(hold(f), hold(g))
}

func TestBugBuffer(t *testing.T) {
	var b bytes.Buffer
	both(func() { b.WriteString("a") }, func() { b.WriteString("b") })
}

func TestFineBuffer(t *testing.T) {
	var b bytes.Buffer
	locked(func() { b.WriteString("a") }, func() { b.WriteString("b") })
	if b.Len() != 2 {
		t.Errorf("%q", b.String())
	}
}

func TestBugBuilder(t *testing.T) {
	b := new(strings.Builder)
	both(func() { b.WriteString("a") }, func() { b.WriteString("b") })
}

func TestFineBuilder(t *testing.T) {
	b := new(strings.Builder)
	locked(func() { b.WriteString("a") }, func() { b.WriteString("b") })
	if b.Len() != 2 {
		t.Errorf("%q", b.String())
	}
}

func TestBugBufferedWriter(t *testing.T) {
	w := bufio.NewWriter(io.Discard)
	both(func() { w.WriteString("a") }, func() { w.WriteString("b") })
}

func TestFineBufferedWriter(t *testing.T) {
	w := bufio.NewWriter(io.Discard)
	locked(func() { w.WriteString("a") }, func() { w.WriteString("b") })
	if w.Buffered() != 2 {
		t.Error(w.Buffered())
	}
}

func TestBugContainerList(t *testing.T) {
	l := list.New()
	both(func() { l.PushBack(1) }, func() { l.PushBack(2) })
}

func TestFineContainerList(t *testing.T) {
	l := list.New()
	locked(func() { l.PushBack(1) }, func() { l.PushBack(2) })
	if l.Len() != 2 {
		t.Error(l.Len())
	}
}

func TestBugReflect(t *testing.T) {
	x := struct{ n int }{}
	n := reflect.NewAt(reflect.TypeFor[int](), reflect.ValueOf(&x).UnsafePointer()).Elem()
	both(func() { n.SetInt(1) }, func() { _ = n.Int() })
}

func TestFineReflect(t *testing.T) {
	x := struct{ A, B int }{}
	v := reflect.ValueOf(&x).Elem()
	both(func() { v.Field(0).SetInt(1) }, func() { v.Field(1).SetInt(2) })
	if x.A != 1 || x.B != 2 {
		t.Error(x)
	}
}

func TestBugReflectMap(t *testing.T) {
	m := reflect.ValueOf(map[string]int{"a": 1})
	both(func() { m.SetMapIndex(reflect.ValueOf("b"), reflect.ValueOf(2)) }, func() { m.MapIndex(reflect.ValueOf("a")) })
}

func TestFineReflectMap(t *testing.T) {
	m := reflect.ValueOf(map[string]int{"a": 1})
	both(func() { m.MapIndex(reflect.ValueOf("b")) }, func() { m.MapIndex(reflect.ValueOf("a")) })
}

func TestBugChecksum(t *testing.T) {
	b := []byte("abc")
	both(func() { crc32.NewIEEE().Write(b) }, func() { b[0]++ })
}

func TestFineChecksum(t *testing.T) {
	b := []byte("abc")
	both(func() { crc32.NewIEEE().Write(b) }, func() { _ = b[0] })
}

func TestBugReadIntoShared(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.WriteString("abc")
	w.Close()
	b := make([]byte, 3)
	both(func() { r.Read(b) }, func() { _ = b[0] })
}

func TestFineFilesOrder(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	go func() {
		n = 1
		w.WriteString("a")
		w.Close()
	}()
	if _, err := r.Read(make([]byte, 1)); err != nil || n != 1 {
		t.Error(n, err)
	}
}

func TestBugBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		go func() {
			time.Sleep(time.Second)
			n++
		}()
		time.Sleep(2 * time.Second)
		n++
	})
}

func TestFineBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		n := 0
		go func() {
			time.Sleep(time.Second)
			n++
		}()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		n++
		if n != 2 || time.Since(start) != 2*time.Second {
			t.Error(n, time.Since(start))
		}
	})
}

func TestBugBubbleNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b sync.Mutex
		nested := func(first, second *sync.Mutex) {
			first.Lock()
			defer first.Unlock()
			second.Lock()
			defer second.Unlock()
		}
		go nested(&a, &b)
		go nested(&b, &a)
	})
}

func TestFineBubbleWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ch := make(chan int)
		state := ""
		go func() {
			state = "waits"
			<-ch
			state = "done"
		}()
		synctest.Wait()
		if state != "waits" {
			t.Error(state)
		}
		close(ch)
		synctest.Wait()
		if state != "done" {
			t.Error(state)
		}
	})
}

func namedResult(done chan bool) (n int) {
	go func() {
		n = 1
		done <- true
	}()
	return
}

func namedResultAfterAll() (n int) {
	done := make(chan bool)
	defer func() { <-done }()
	go func() {
		n = 1
		done <- true
	}()
	return
}

func TestBugResultLoad(t *testing.T) {
	done := make(chan bool)
	namedResult(done)
	<-done
}

func TestFineResultLoad(t *testing.T) {
	if n := namedResultAfterAll(); n != 1 {
		t.Error(n)
	}
}
