package tolerate

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

type sample struct {
	flag    bool
	count   int64
	_       int32
	name    string
	list    []int
	any     any
	nothing struct{}
	pair    [2]struct {
		id uint16
		p  *int
	}
	point complex64
	fn    func()
}

func TestLayoutListsUnitsWithoutPadding(t *testing.T) {
	if !wide {
		return
	}
	var s sample
	type place struct {
		offset uintptr
		kind   kind
	}
	want := []place{
		{unsafe.Offsetof(s.flag), byte1},
		{unsafe.Offsetof(s.count), byte8},
		{unsafe.Offsetof(s.name), text},
		{unsafe.Offsetof(s.list), slice},
		{unsafe.Offsetof(s.any), iface},
		{unsafe.Offsetof(s.pair), byte2},
		{unsafe.Offsetof(s.pair) + 8, pointer},
		{unsafe.Offsetof(s.pair) + 16, byte2},
		{unsafe.Offsetof(s.pair) + 24, pointer},
		{unsafe.Offsetof(s.point), pair8},
		{unsafe.Offsetof(s.fn), pointer},
	}
	l := layoutOf(reflect.TypeFor[sample]())
	var got []place
	for _, u := range l.units {
		got = append(got, place{u.offset, u.kind})
	}
	if !slices.Equal(got, want) || l.bulk || !l.pointers || l.only != several {
		t.Errorf("got %+v, want %+v", *l, want)
	}
	if huge := layoutOf(reflect.TypeFor[[mostUnits + 1]int8]()); !huge.bulk || huge.units != nil {
		t.Error("a huge array is listed")
	}
	if one := layoutOf(reflect.TypeFor[struct{ m map[int]int }]()); one.only != pointer {
		t.Errorf("a struct with a map is %d", one.only)
	}
}

func TestPaddingDoesNotCount(t *testing.T) {
	typ := typeOf[sample]()
	a, b := new(sample), new(sample)
	*(*byte)(unsafe.Add(unsafe.Pointer(a), 1)) = 1 // behind flag
	if !typ.same(unsafe.Pointer(a), unsafe.Pointer(b)) {
		t.Error("padding is compared")
	}
	b.pair[1].id = 1
	if typ.same(unsafe.Pointer(a), unsafe.Pointer(b)) {
		t.Error("the last unit of an array is not compared")
	}
}

// attempt publishes a value over another, from a right and a wrong idea of what is
// there.
func attempt[T comparable](t *testing.T, was, is, with T) {
	t.Helper()
	typ := typeOf[T]()
	if typ.only == several {
		t.Fatalf("%T is not one unit", was)
	}
	shared := is
	if typ.only.publish(unsafe.Pointer(&shared), unsafe.Pointer(&was), unsafe.Pointer(&with)) || shared != is {
		t.Errorf("%T: published over %v, expecting %v", was, is, was)
	}
	if !typ.only.publish(unsafe.Pointer(&shared), unsafe.Pointer(&is), unsafe.Pointer(&with)) || shared != with {
		t.Errorf("%T: not published over %v: it is %v", was, is, shared)
	}
}

func TestPublishOnlyOverWhatWasExpected(t *testing.T) {
	x, y, z := 1, 2, 3
	attempt(t, true, false, true)
	attempt[int8](t, 1, -2, 3)
	attempt[uint16](t, 1, 0xffff, 3)
	attempt[float32](t, 1, -2, 3)
	attempt(t, 1, -2, 3)
	attempt(t, 1.5, -2, 3)
	attempt(t, &x, &y, &z)
	attempt(t, "one", "two", "three")
	attempt[any](t, 1, "two", 3.0)
	attempt(t, complex64(1), 2, 3)
	attempt(t, complex(1, 1), 2, 3)
}

func TestSnapshotIsRepeatedUntilItAgrees(t *testing.T) {
	shared, private := [2]int{1, 1}, [2]int{}
	copies := 0
	typ := &typed{
		layout: &layout{size: unsafe.Sizeof(shared), bulk: true},
		assign: func(to, from unsafe.Pointer) {
			copies++
			to2, from2 := (*[2]int)(to), (*[2]int)(from)
			to2[0] = from2[0]
			if copies < 4 { // careless code, in the middle of the copying
				*from2 = [2]int{copies * 10, copies * 10}
			}
			to2[1] = from2[1]
		},
	}
	c := cell{typed: typ, shared: unsafe.Pointer(&shared)}
	c.snapshot(unsafe.Pointer(&private))
	if private != [2]int{30, 30} || copies != 4 {
		t.Errorf("after %d copies %v, want 30 30 after 4", copies, private)
	}
}
