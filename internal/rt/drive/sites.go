package drive

import (
	"fmt"
	"os"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func readTable(path string) (*wire.Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the sites of the program: %w", err)
	}
	t, err := wire.DecodeTable(data)
	if err != nil {
		return nil, fmt.Errorf("reading the sites of the program in %s: %w", path, err)
	}
	return t, nil
}

// kindsAt is what is done at the sites from event.CallSites on.
type kindsAt struct {
	kinds map[uint32]event.Kind
	// site and kind are those of the last event: many in a row are alike.
	site uint32
	kind event.Kind
}

func (k *kindsAt) add(e *event.Event) {
	if e.Site < event.CallSites {
		return
	}
	kind := e.Kind
	if kind == event.Blocked {
		kind = event.Kind(e.Arg) // what it wants to do
	}
	if k.site == e.Site && k.kind == kind {
		return
	}
	if k.kinds == nil {
		k.kinds = make(map[uint32]event.Kind)
	}
	k.kinds[e.Site], k.site, k.kind = kind, e.Site, kind
}

// callSites describes the sites that are calls of patched functions. What stands there
// in the source is looked for among the calls, by the line and by what was done there.
func callSites(f *frames.Tree, calls []trace.LibraryCall, kinds *kindsAt) []trace.Site {
	type line struct {
		file string
		line int
	}
	at := map[line][]trace.LibraryCall{}
	for _, c := range calls {
		l := line{c.File, c.Line}
		at[l] = append(at[l], c)
	}
	var all []trace.Site
	for _, id := range f.Sites() {
		pc, _ := f.PC(id)
		frame := frames.Frame(pc)
		pkg, function := split(frame.Function)
		site := trace.Site{ID: id, Package: pkg, File: frame.File, Line: frame.Line, Function: function, Kind: kinds.kinds[id]}
		var says bool
		site.Expr, says = expression(at[line{frame.File, frame.Line}], site.Kind)
		site.InLibrary = !says
		all = append(all, site)
	}
	return all
}

// split separates the package in a function's name.
func split(function string) (pkg, name string) {
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return "", function
	}
	return function[:slash+dot], function[slash+dot+1:]
}

// expression returns the one of the calls on a line that does an operation, or all that
// may. It reports false if what is called has another name than what it does.
func expression(calls []trace.LibraryCall, kind event.Kind) (text string, says bool) {
	var some, rest []string
	for _, c := range calls {
		if names := calledBy[kind]; names != "" && strings.Contains(names, " "+c.Name+" ") {
			some = add(some, c.Expr)
		}
		rest = add(rest, c.Expr)
	}
	if len(some) > 0 {
		return strings.Join(some, " or "), true
	}
	if len(rest) == 1 {
		return rest[0], calledBy[kind] == ""
	}
	return "", len(rest) == 0 || calledBy[kind] == ""
}

func add(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}

// calledBy has the functions and methods whose names tell that they do an operation.
var calledBy = map[event.Kind]string{
	event.Lock: " Lock ", event.TryLock: " TryLock ", event.Unlock: " Unlock ",
	event.RLock: " RLock ", event.TryRLock: " TryRLock ", event.RUnlock: " RUnlock ",
	event.WaitGroupAdd: " Add Done Go ", event.WaitGroupWait: " Wait ", event.CondWait: " Wait ",
	event.Signal: " Signal ", event.Broadcast: " Broadcast ", event.PoolGet: " Get ", event.PoolPut: " Put ",
	event.Sleep: " Sleep ", event.TimerStop: " Stop Reset ",
	event.NetListen: " Listen ListenTCP ListenUDP ListenUnix ListenPacket NewServer NewTLSServer ListenAndServe ListenAndServeTLS ",
	event.NetDial:   " Dial DialTCP DialUDP DialUnix DialContext DialTimeout ", event.NetAccept: " Accept AcceptTCP AcceptUnix ",
	event.NetRead: " Read ReadFrom ReadFromUDP ", event.NetWrite: " Write WriteTo WriteToUDP ",
	event.NetClose: " Close CloseRead CloseWrite ", event.NetDeadline: " SetDeadline SetReadDeadline SetWriteDeadline ",
	event.FileRead:   " Read ReadAt ReadFile ReadDir Readdir Readdirnames Stat Lstat Open OpenFile Readlink Glob WalkDir Walk ",
	event.FileWrite:  " Write WriteAt WriteString WriteFile Create CreateTemp OpenFile Mkdir MkdirAll MkdirTemp Remove RemoveAll Rename Truncate Link Symlink Chmod TempDir Start Run Output CombinedOutput ",
	event.TimerStart: " NewTimer AfterFunc After NewTicker Tick Reset WithTimeout WithDeadline ",
}
