package mem

import (
	"sync"
	"sync/atomic"
)

// PageSize is the size of a page. A page number is an address divided by it.
const (
	PageSize  = 1 << pageShift
	pageShift = 12
	pageMask  = PageSize - 1
)

// A page is the contents of PageSize bytes of memory. Only a space of the generation may
// write it; generation 0 belongs to no space.
type page struct {
	generation uint64
	data       [PageSize]byte
}

var zeroes = new(page)

// generations numbers the generations of all spaces.
var generations atomic.Uint64

// A File is what areas are filled with. It is read once and shared by all spaces.
type File struct {
	Name string
	data []byte

	mu    sync.Mutex
	pages map[int64]*page // by offset
}

// NewFile returns a file of the given contents, which must not change any more.
func NewFile(name string, data []byte) *File {
	return &File{Name: name, data: data, pages: map[int64]*page{}}
}

// Data returns the contents, which must not be changed.
func (f *File) Data() []byte { return f.data }

// page returns the page that starts at offset. Past the end it is zeroes.
func (f *File) page(offset int64) *page {
	if offset < 0 || offset >= int64(len(f.data)) {
		return zeroes
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pages[offset]
	if p == nil {
		p = new(page)
		copy(p.data[:], f.data[offset:])
		f.pages[offset] = p
	}
	return p
}

// A line is an entry of the table of the pages used last: the number of the page if it
// may be read, or written, and impossible otherwise.
type line struct {
	read, write uint64
	data        *[PageSize]byte
	_           uint64
}

const (
	lines      = 512
	impossible = 1 << 63
)

type table [lines]line

func (t *table) clear() {
	for i := range t {
		t[i] = line{read: impossible, write: impossible}
	}
}

// never is the table of a watched space.
var never = func() *table {
	t := new(table)
	t.clear()
	return t
}()
