package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// tree is one over a directory of the host, with a file, a link to it, and a directory.
func tree(t *testing.T) (f *Tree, dir string, notes *[]string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.WriteFile(dir+"/file", []byte("host"), 0o644), os.Symlink("file", dir+"/link"), os.Symlink(dir+"/loop", dir+"/loop"), os.Mkdir(dir+"/sub", 0o755), os.Symlink("sub", dir+"/also")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	notes = new([]string)
	return New(func(format string, args ...any) { *notes = append(*notes, fmt.Sprintf(format, args...)) }), dir, notes
}

func found(t *testing.T, f *Tree, name string) *Node {
	t.Helper()
	n, e := f.Lookup(name, true)
	if e != 0 {
		t.Fatalf("%s: error %d", name, e)
	}
	return n
}

func TestWhatIsWrittenIsOverTheHostsFiles(t *testing.T) {
	f, dir, _ := tree(t)
	n := found(t, f, dir+"/link")
	if string(n.Data) != "host" || n.Own {
		t.Fatalf("%+v", n)
	}
	own := f.Owned(n)
	own.WriteAt([]byte("ed over"), 2)
	if got := found(t, f, dir+"/file"); string(got.Data) != "hoed over" || f.Owned(got) != own {
		t.Errorf("%q", got.Data)
	}
	f.Rename(own, dir+"/other")
	f.Create(dir+"/new", Directory, 0o700, 5)
	f.Remove(dir + "/sub")
	if got := f.Entries(dir); !slices.Equal(got, []string{".", "..", "also", "link", "loop", "new", "other"}) {
		t.Errorf("%q", got)
	}
	if _, e := f.Lookup(dir+"/file", true); e != abi.ENOENT {
		t.Errorf("what was renamed is there still: %d", e)
	}
	if host, err := os.ReadFile(dir + "/file"); err != nil || string(host) != "host" {
		t.Errorf("the host has %q: %v", host, err)
	}
	buffer := make([]byte, 20)
	if k := found(t, f, dir+"/other").ReadAt(buffer, 5); string(buffer[:k]) != "over" {
		t.Errorf("%q", buffer[:k])
	}
	if k := found(t, f, dir+"/other").ReadAt(buffer, 50); k != 0 {
		t.Errorf("%d bytes beyond the end", k)
	}
}

func TestPathsThatLeadNowhere(t *testing.T) {
	f, dir, _ := tree(t)
	for name, want := range map[string]abi.Errno{"/nothing": abi.ENOENT, "/file/below": abi.ENOTDIR, "/loop": abi.ELOOP} {
		if _, e := f.Lookup(dir+name, true); e != want {
			t.Errorf("%s: %d, want %d", name, e, want)
		}
	}
	if got := Absolute(dir+"/sub", "../also/x"); got != dir+"/sub/x" {
		t.Errorf("%s", got)
	}
	if got := Resolve("/proc/self/exe"); got != "/proc/self/exe" {
		t.Errorf("%s", got)
	}
}

func TestDevicesAndFactsAreNotTheHosts(t *testing.T) {
	f, _, notes := tree(t)
	if n := found(t, f, "/dev/null"); n.Kind != NullDevice {
		t.Errorf("%+v", n)
	}
	if n := found(t, f, "/sys/devices/system/cpu/online"); string(n.Data) != "0-3\n" {
		t.Errorf("%+v", n)
	}
	if len(*notes) != 0 {
		t.Errorf("%q", *notes)
	}
	if _, err := os.Stat("/proc/uptime"); err == nil {
		found(t, f, "/proc/uptime")
		if len(*notes) != 1 {
			t.Errorf("reading /proc/uptime is not told: %q", *notes)
		}
	}
}

// TestCopiesShareNothingThatChanges: also where a pipe and a file are reached in two ways.
func TestCopiesShareNothingThatChanges(t *testing.T) {
	f, dir, _ := tree(t)
	own := f.Owned(found(t, f, dir+"/file"))
	pipe := &Node{Kind: PipeNode, Pipe: &Pipe{Data: []byte("ab"), Readers: 1, Writers: 1}}
	watches := &Node{Kind: EpollNode, Watched: &WatchSet{Files: map[uint64]WatchedFile{3: {Events: 1}}}}
	k := &Copier{}
	g := k.Tree(f)
	other := k.Node(pipe)
	if k.Node(pipe) != other || k.Node(own) != found(t, g, dir+"/file") {
		t.Error("one node has two copies")
	}
	own.WriteAt([]byte("X"), 0)
	pipe.Pipe.Data[0] = 'X'
	copied := k.Node(watches)
	watches.Watched.Files[4] = WatchedFile{}
	if got := found(t, g, dir+"/file"); string(got.Data) != "host" || string(other.Pipe.Data) != "ab" || len(copied.Watched.Files) != 1 {
		t.Errorf("%q, %q, %v", got.Data, other.Pipe.Data, copied.Watched.Files)
	}
	if n := found(t, f, "/dev/null"); k.Node(n) != n || k.Node(nil) != nil {
		t.Error("what never changes was copied")
	}
}

func TestStatSaysWhatANodeIs(t *testing.T) {
	f, dir, _ := tree(t)
	n := found(t, f, dir+"/file")
	stat, statx := n.Stat(), n.Statx()
	if size := stat[48]; size != 4 || statx[40] != 4 {
		t.Errorf("of %d and %d bytes", size, statx[40])
	}
	if mode := uint32(stat[24]) | uint32(stat[25])<<8; mode != 0o100644 {
		t.Errorf("mode %o", mode)
	}
	link, _ := f.Lookup(dir+"/link", false)
	if stat := link.Stat(); stat[48] != 4 || stat[25]>>4 != 0o120000>>12 {
		t.Errorf("a link: %v", stat[:56])
	}
	if first := n.Mapped(); first != n.Mapped() || string(first.Data()) != "host" {
		t.Error("a file of the host is mapped twice")
	}
	own := f.Owned(n)
	before := own.Mapped()
	own.WriteAt([]byte("X"), 0)
	if string(before.Data()) != "host" || string(own.Mapped().Data()) != "Xost" {
		t.Error("what is mapped changes, or never does")
	}
}
