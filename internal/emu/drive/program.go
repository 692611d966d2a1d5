package drive

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/emu"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Program is a program without source that is ready to be run under schedules.
type Program struct {
	binary   trace.Binary
	maxSteps uint64 // of a run
	stall    int64  // nanoseconds of a run that time may move on while threads are ready

	process  *linux.Process
	world    *sockets.World
	output   *output
	symbols  *emu.Symbols
	start    *linux.Snapshot
	heap     *heap
	ready    *heap // at the snapshot
	shared   wordSet
	uses     uses
	identity string
	own      string // the file of the program itself
	observer *Observer
	judge    func(*linux.Process) string

	// findsRaces: a data race is a failure. atomics are words that are known to be accessed
	// by atomic instructions.
	findsRaces bool
	atomics    wordSet
	watch      raceWatch

	routing *routing // of a run whose route is wanted

	mu     sync.Mutex
	others []*Program // processes that are like this one, for searches; see crew
}

// Judge has f asked at the end of each run that did not fail: what it says, if it says
// anything, makes the run one that did.
func (p *Program) Judge(f func(*linux.Process) string) { p.judge = f }

// Hide has memory not taken for shared, whatever threads do to it: what a lock keeps for
// itself, which only its holder changes. Schedules that differ in nothing else are one.
func (p *Program) Hide(from, to uint64) { p.uses.hidden = [2]uint64{from, to} }

// Process is the emulated process, as it is now.
func (p *Program) Process() *linux.Process { return p.process }

// An Observer is told what a run does.
type Observer struct {
	// Begins is called with the process before it executes anything.
	Begins func(*linux.Process)
	// Allocates and Frees are called for the heap.
	Allocates, Frees func(t *linux.Thread, addr, size uint64)
}

// maxInstructions is how long a run may be: long enough to tell it from one that never
// ends.
const maxInstructions = 2_000_000_000

// output is what a run wrote to its standard output and error, or the end of it.
type output struct{ text []byte }

const maxOutput = 1 << 16

func (o *output) Write(b []byte) (int, error) {
	o.text = append(o.text, b...)
	if extra := len(o.text) - maxOutput; extra > 0 {
		o.text = append(o.text[:0], o.text[extra:]...)
	}
	return len(b), nil
}

// Load loads a program and prepares it. steps is the limit of a run.
func Load(b trace.Binary, steps uint64) (*Program, error) {
	p := &Program{binary: b, maxSteps: steps, world: sockets.NewWorld()}
	p.shared.addAll(b.Shared)
	p.atomics.addAll(b.Atomics)
	return p, p.prepare()
}

// prepare loads the program and takes the snapshot that runs start from.
func (p *Program) prepare() error {
	if err := p.load(nil); err != nil {
		return err
	}
	p.start = p.process.Snapshot()
	p.ready = p.heap.copy()
	return nil
}

// load starts the program and executes it up to its first thread. watch is told about the
// process before it executes anything.
func (p *Program) load(watch func(*linux.Process)) error {
	p.output = &output{}
	process, err := linux.New(linux.Config{
		Path: p.binary.Path, Args: p.binary.Args, Env: p.binary.Env, Dir: p.binary.Dir,
		Stdin: bytes.NewReader(p.binary.Input), Stdout: p.output, Stderr: p.output, Limit: maxInstructions, World: p.world,
	})
	if err != nil {
		return err
	}
	p.process = process
	p.own = process.Program().Path
	if watch != nil {
		watch(process)
	}
	p.heap = newHeap()
	r := &run{Program: p}
	main := process.Threads()[0]
	for process.Exit() == nil && !r.creates(main) {
		if !process.Ready(main) && !process.Idle() {
			break
		}
		r.advance(main, nil, false)
		if p.symbols == nil && main.Calling() {
			p.knowHeap()
		}
	}
	if err := p.lacks(); err != nil {
		return err
	}
	p.symbols = emu.NewSymbols(process.Mem)
	p.identity = identity(process)
	p.uses.linker = linker(process)
	return nil
}

// linker returns the sites of the dynamic linker's code, from and to. Some C libraries have it
// in the same file as everything else; then there are none.
func linker(p *linux.Process) (sites [2]uint32) {
	for _, a := range p.Mem.Areas() {
		if a.File != nil && a.Prot&mem.Exec != 0 && strings.HasPrefix(filepath.Base(a.File.Name), "ld-linux") {
			return [2]uint32{cpu.SiteOf(a.Start), cpu.SiteOf(a.End)}
		}
	}
	return sites
}

// A LackingError names what the emulator does not have.
type LackingError struct{ What string }

func (e *LackingError) Error() string {
	return e.What + "; the program cannot be explored on this input"
}

// lacks is the error that the process ended because of something that the emulator does not
// have.
func (p *Program) lacks() error {
	if e := p.process.Exit(); e != nil && e.Reason == linux.Lacking {
		return &LackingError{What: e.Text}
	}
	return nil
}

// identity is a hash of all files that are mapped.
func identity(p *linux.Process) string {
	var names []string
	contents := map[string][]byte{}
	for _, a := range p.Mem.Areas() {
		if a.File != nil && contents[a.File.Name] == nil {
			names = append(names, a.File.Name)
			contents[a.File.Name] = a.File.Data()
		}
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%s %d\n", name, len(contents[name]))
		h.Write(contents[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// IsShared reports whether threads are known to share the word at an address, from any run.
func (p *Program) IsShared(addr uint64) bool { return p.shared.has(addr, 1) }

// Threads returns how many threads the last run had.
func (p *Program) Threads() int { return len(p.process.Threads()) }

// Line is the source file and line of an address, of a program with debug information;
// otherwise "" and 0.
func (p *Program) Line(addr uint64) (file string, line int) { return p.symbols.Line(addr) }

// Notes lists what the program was denied, or did not get as asked for.
func (p *Program) Notes() []string { return p.process.Notes() }

// Output returns the end of what the last run wrote.
func (p *Program) Output() io.Reader { return bytes.NewReader(p.output.text) }
