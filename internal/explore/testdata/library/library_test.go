// Package library has calls of the standard library on memory that another goroutine uses at
// the same time: each shape once without a lock, and once with one.
package library

import (
	"bufio"
	"bytes"
	"container/list"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/big"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/template"
	"unicode/utf8"
)

type record struct {
	A int
	B string
	C []int
	M map[string]int
}

type numbered struct{ n int }

func (e *numbered) Error() string { return "" }

// shapes calls use with each pair of functions to run at the same time. The first function
// of a pair calls the library.
func shapes(use func(f, g func())) {
	{
		xs := []int{3, 1, 2}
		use(func() { sort.Slice(xs, func(i, j int) bool { return i > j }) }, func() { xs[0] = 9 })
	}
	{
		xs := []record{{A: 3}, {A: 1}, {A: 2}}
		use(func() { sort.Slice(xs, func(i, j int) bool { return i > j }) }, func() { xs[0].A = 9 })
	}
	{
		xs := []int{3, 1, 2}
		use(func() { sort.Ints(xs) }, func() { _ = xs[0] })
	}
	{
		xs := []int{3, 1, 2}
		use(func() { slices.Sort(xs) }, func() { _ = xs[1] })
	}
	{
		xs := []int{3, 1, 2}
		use(func() { slices.Contains(xs, 5) }, func() { xs[1] = 3 })
	}
	{
		m := map[int]int{1: 1}
		use(func() { maps.Clone(m) }, func() { m[2] = 2 })
	}
	{
		m := map[int]int{1: 1}
		use(func() { slices.Collect(maps.Keys(m)) }, func() { m[2] = 2 })
	}
	{
		v := &record{A: 1}
		use(func() { json.Marshal(v) }, func() { v.A = 2 })
	}
	{
		v := &record{A: 1}
		use(func() { json.Unmarshal([]byte(`{"A": 5, "C": [1,2]}`), v) }, func() { _ = v.A })
	}
	{
		b := []byte(`{"A": 5}`)
		use(func() { var v record; json.Unmarshal(b, &v) }, func() { b[6] = '7' })
	}
	{
		v := &record{A: 1}
		use(func() { _ = fmt.Sprintf("%+v", v) }, func() { v.A = 2 })
	}
	{
		n := 0
		use(func() { fmt.Sscanf("12", "%d", &n) }, func() { _ = n })
	}
	{
		var b bytes.Buffer
		use(func() { b.WriteString("a") }, func() { b.Len() })
	}
	{
		var b strings.Builder
		use(func() { b.WriteString("a") }, func() { b.WriteString("b") })
	}
	{
		w := bufio.NewWriter(io.Discard)
		use(func() { w.WriteString("a") }, func() { w.Flush() })
	}
	{
		a, b := []byte("abc"), []byte("abd")
		use(func() { bytes.Equal(a, b) }, func() { a[2] = 1 })
	}
	{
		a := []byte("abc")
		use(func() { bytes.IndexByte(a, 'x') }, func() { a[2] = 1 })
	}
	{
		a := []byte("abcdefgh")
		use(func() { bytes.Contains(a, []byte("xyz")) }, func() { a[2] = 1 })
	}
	{
		a := []byte("abc")
		use(func() { bytes.ToUpper(a) }, func() { a[2] = 1 })
	}
	{
		a := make([]byte, 4)
		use(func() { io.ReadFull(strings.NewReader("abcd"), a) }, func() { _ = a[2] })
	}
	{
		a := make([]byte, 4)
		use(func() { bytes.NewReader([]byte("abcd")).Read(a) }, func() { _ = a[2] })
	}
	{
		a := []byte("abc")
		use(func() { sha256.Sum256(a) }, func() { a[2] = 1 })
	}
	{
		a := []byte("abc")
		use(func() { crc32.ChecksumIEEE(a) }, func() { a[2] = 1 })
	}
	{
		a := []byte("abc")
		use(func() { base64.StdEncoding.EncodeToString(a) }, func() { a[2] = 1 })
	}
	{
		a := []byte("abc")
		use(func() { hex.EncodeToString(a) }, func() { a[2] = 1 })
	}
	{
		a := make([]byte, 8)
		use(func() { binary.LittleEndian.PutUint32(a, 1) }, func() { _ = a[2] })
	}
	{
		var v struct{ A uint32 }
		use(func() { binary.Read(strings.NewReader("abcd"), binary.LittleEndian, &v) }, func() { _ = v.A })
	}
	{
		v := &record{A: 1}
		use(func() { gob.NewEncoder(io.Discard).Encode(v) }, func() { v.A = 2 })
	}
	{
		v := &record{A: 1}
		var b bytes.Buffer
		gob.NewEncoder(&b).Encode(v)
		use(func() { gob.NewDecoder(&b).Decode(v) }, func() { v.A = 2 })
	}
	{
		l := list.New()
		use(func() { l.PushBack(1) }, func() { l.Len() })
	}
	{
		x, y := big.NewInt(1), big.NewInt(2)
		use(func() { x.Add(x, y) }, func() { _ = x.Cmp(y) })
	}
	{
		x, y := big.NewInt(1), big.NewInt(2)
		x.Lsh(x, 200)
		y.Lsh(y, 200)
		z := new(big.Int)
		use(func() { z.Mul(x, y) }, func() { x.Add(x, y) })
	}
	{
		v, w := &record{A: 1}, &record{A: 1}
		use(func() { reflect.DeepEqual(v, w) }, func() { v.A = 2 })
	}
	{
		v := &record{A: 1}
		tm := template.Must(template.New("").Parse("{{.A}}"))
		use(func() { tm.Execute(io.Discard, v) }, func() { v.A = 2 })
	}
	{
		e := []error{errors.New("a"), nil}
		use(func() { _ = errors.Join(e...) }, func() { e[1] = errors.New("b") })
	}
	{
		var target *numbered
		use(func() { errors.As(&numbered{}, &target) }, func() { _ = target })
	}
	{
		b := make([]byte, 0, 8)
		use(func() { _ = strconv.AppendInt(b, 5, 10) }, func() { _ = strconv.AppendInt(b, 6, 10) })
	}
	{
		a := []byte("abc")
		use(func() { utf8.DecodeRune(a) }, func() { a[0] = 1 })
	}
	{
		a := []byte("abc")
		use(func() { utf8.Valid(a) }, func() { a[2] = 1 })
	}
	{
		u := &url.URL{Path: "a"}
		use(func() { _ = u.String() }, func() { u.Path = "b" })
	}
	{
		u := url.Values{}
		use(func() { u.Set("a", "b") }, func() { u.Get("a") })
	}
	{
		a := []byte("abc")
		re := regexp.MustCompile("c$")
		use(func() { re.Match(a) }, func() { a[2] = 'd' })
	}
	{
		v := &record{}
		use(func() { reflect.ValueOf(v).Elem().Field(0).SetInt(4) }, func() { _ = v.A })
	}
	{
		xs := []int{1, 2}
		use(func() { reflect.Swapper(xs)(0, 1) }, func() { _ = xs[1] })
	}
	{
		r := strings.NewReader("abc")
		use(func() { r.ReadByte() }, func() { r.ReadByte() })
	}
	{
		o := []string{"a", "b"}
		use(func() { strings.NewReplacer(o...) }, func() { o[0] = "c" })
	}
	{
		o := []string{"a", "b"}
		use(func() { strings.Join(o, ",") }, func() { o[0] = "c" })
	}
}

func TestBug(t *testing.T) {
	shapes(func(f, g func()) {
		var wg sync.WaitGroup
		wg.Go(f)
		wg.Go(g)
		wg.Wait()
	})
}

func TestFine(t *testing.T) {
	shapes(func(f, g func()) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, f := range []func(){f, g} {
			wg.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				f()
			})
		}
		wg.Wait()
	})
}
