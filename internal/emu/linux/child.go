package linux

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

// A child is a process, too, and emulated like its parent: it sees the same files, and nothing
// that it does reaches the host. What it is not is explored: a child goes on by itself, as far
// as it gets, each time its parent makes a system call or has to wait. That is one of the
// orders that there are, and the same in every run.
//
// A child that shares its parent's memory until it executes a program, as posix_spawn and
// vfork have it, comes to that point while its parent stands still. Memory that parent and
// child write to side by side is not emulated.

// childTurn is how many instructions a child executes before its parent's turn, spawnTurn how
// many one may that shares its parent's memory.
const (
	childTurn = 2_000_000
	spawnTurn = 20_000_000
)

// root is the process that was loaded, the oldest ancestor.
func (p *Process) root() *Process {
	for p.parent != nil {
		p = p.parent
	}
	return p
}

// family is a process and all its descendants that have not ended.
func (p *Process) family() []*Process {
	all := []*Process{p}
	for _, c := range p.children {
		if c.exit == nil {
			all = append(all, c.family()...)
		}
	}
	return all
}

func sysFork(p *Process, t *Thread, _ *args) uint64 {
	return p.fork(t, cloneArgs{exitSignal: uint64(abi.SIGCHLD)})
}

func sysVfork(p *Process, t *Thread, _ *args) uint64 {
	return p.fork(t, cloneArgs{flags: abi.CloneVM | abi.CloneVfork, exitSignal: uint64(abi.SIGCHLD)})
}

// fork makes a child process, whose only thread goes on where t does.
func (p *Process) fork(t *Thread, a cloneArgs) uint64 {
	const known = abi.CloneVM | abi.CloneVfork | abi.CloneSetTLS | abi.CloneParentSetTID | abi.CloneChildClear | abi.CloneChildSetTID | abi.CloneClearHandlers
	const signal = 0xff // the old call has it among the flags
	if a.flags&^(known|signal) != 0 {
		p.note("the program wanted a child process with flags %#x, which are not emulated: clone fails with EINVAL", a.flags)
		return abi.EINVAL.Result()
	}
	if shares := a.flags&abi.CloneVM != 0; shares && a.flags&abi.CloneVfork == 0 || !shares && p.sharesMemory() {
		p.exit = &Exit{Reason: Lacking, Thread: t, PC: t.CPU.PC, Text: "the program has memory that it shares with a child process, which is not emulated: give it input with which it works in one process, with threads"}
		return 0
	}
	p.root().used.Outside = true
	p.note("the program has child processes: they are emulated, and what they do stays in the emulation, but they run outside control, in one order of many")
	c := &Process{Mem: p.Mem, Code: p.Code, config: p.config, program: p.program, stdin: p.stdin, shared: p.shared, state: p.state}
	c.pid, c.parent, c.children, c.threads, c.pending, c.alarm = p.nextTID, p, nil, nil, 0, 0
	c.rng = *rand.NewPCG(p.rng.Uint64(), uint64(c.pid))
	c.used = Used{}
	c.fds = slices.Clone(p.fds)
	for _, d := range c.fds {
		if d.description != nil {
			d.numbers++
		}
	}
	if a.flags&abi.CloneClearHandlers != 0 {
		c.resetHandlers()
	}
	if a.flags&abi.CloneVM == 0 {
		c.Mem, c.Code = p.Mem.Clone(), c.newCode()
	}
	n := c.newThread()
	n.CPU.CopyRegisters(t.CPU)
	c.begin(n, t, a)
	if a.flags&abi.CloneParentSetTID != 0 {
		p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, c.pid), a.parentTID)
	}
	p.children = append(p.children, c)
	if c.Mem == p.Mem {
		p.spawn(c, t.CPU.Recording())
	}
	return uint64(c.pid)
}

// newCode is the code of a child. It is decoded once for all children, of this run and of others.
func (c *Process) newCode() *cpu.Code {
	code := cpu.NewCode()
	code.Share(c.shared.decoded)
	return code
}

// sharesMemory reports whether there is memory that a child is to see changes of.
func (p *Process) sharesMemory() bool {
	return slices.ContainsFunc(p.Mem.Areas(), func(a mem.Area) bool { return a.Shared && a.Prot&mem.Write != 0 })
}

// spawn runs a child that shares its parent's memory until it does not any more.
func (p *Process) spawn(c *Process, recording bool) {
	p.Mem.Watch(false)
	for c.Mem == p.Mem && c.exit == nil {
		t := c.threads[0]
		if !c.Ready(t) || c.count > p.count+spawnTurn {
			c.exit = &Exit{Reason: Lacking, Text: "it shares its parent's memory, and waits or works there, which is not emulated"}
			break
		}
		c.turn(t)
	}
	p.Mem.Watch(recording)
}

// Serve lets the children of a process go on. It reports whether any did.
func (p *Process) Serve() bool {
	if len(p.children) == 0 {
		return false
	}
	went := false
	for _, c := range slices.Clone(p.children) {
		if c.exit == nil {
			went = c.goOn(p.now()) || went
		}
		if c.exit != nil && c.Mem != nil {
			went = true
			p.bury(c)
		}
	}
	return went
}

// goOn executes instructions of all threads of a child, and of its own children. It reports
// whether any could.
func (c *Process) goOn(now int64) bool {
	c.keepUp(now)
	went := c.Serve()
	for end := c.count + childTurn; c.exit == nil && c.count < end; {
		ready := false
		for i := 0; i < len(c.threads) && c.exit == nil; i++ {
			if t := c.threads[i]; c.Ready(t) {
				ready = true
				c.turn(t)
			}
		}
		if !ready {
			break
		}
		went = true
	}
	return went
}

// keepUp has a child's time be no earlier than its parent's.
func (c *Process) keepUp(now int64) {
	c.skipped += max(now-c.now(), 0)
	c.ring()
}

// nextOfChildren is the next moment if the children of a process are asked, too.
func (p *Process) nextOfChildren(m Moment, ok bool) (Moment, bool) {
	for _, c := range p.children {
		if c.exit != nil {
			continue
		}
		c.keepUp(p.now())
		if its, has := c.Next(); has && (!ok || its.In < m.In) {
			m, ok = Moment{In: its.In}, true
		}
	}
	return m, ok
}

// bury takes from a child that has ended all that it had, and tells its parent.
func (p *Process) bury(c *Process) {
	for n := range c.fds {
		c.close(uint64(n))
	}
	c.Mem, c.Code, c.threads = nil, nil, nil
	root := p.root()
	for _, left := range c.children {
		left.parent, left.orphan = root, true
		if left.exit == nil {
			root.children = append(root.children, left)
		}
	}
	c.children = nil
	switch c.exit.Reason {
	case Lacking, Limited, Deadlock:
		p.exit = &Exit{Reason: c.exit.Reason, Text: fmt.Sprintf("in a child process, %s: %s", c.program.Path, c.exit.Text)}
		return
	case Killed:
		p.note("a child process, %s, was killed by %v", c.program.Path, c.exit.Signal)
	}
	const noZombies = 2
	if a := p.actions[abi.SIGCHLD]; a.handler == handlerIgnore || a.flags&noZombies != 0 || c.orphan {
		p.forget(c)
	}
	if !c.orphan {
		p.raise(abi.SIGCHLD, nil)
	}
}

// forget drops a child that has ended.
func (p *Process) forget(c *Process) {
	p.children = slices.DeleteFunc(slices.Clone(p.children), func(other *Process) bool { return other == c })
}

// noteLeft lists children that go on when the program itself ends: they are not run any more.
func (p *Process) noteLeft() {
	for _, c := range p.children {
		if p.parent == nil && c.exit == nil {
			p.note("the program ended and left a child process, %s, which is not run further: if that is where the work is done, have the program stay in the foreground", c.program.Path)
		}
	}
}

// Waiting for children.

// child returns a child that a thread asks about, by its number or -1 for any: one that has
// ended, if there is one.
func (p *Process) child(which int64) (found *Process) {
	for _, c := range p.children {
		if c.orphan || which > 0 && int64(c.pid) != which {
			continue
		}
		if found == nil || found.exit == nil {
			found = c
		}
	}
	return found
}

func (p *Process) hasEnded(which int64) bool {
	c := p.child(which)
	return c == nil || c.exit != nil
}

const (
	waitNoHang = 1
	waitKeep   = 0x01000000
)

// awaitChild returns a child that has ended. Without one the result is what the system call
// returns.
func (p *Process) awaitChild(t *Thread, which int64, options uint64, name string) (*Process, uint64) {
	c := p.child(which)
	switch {
	case c == nil:
		return nil, abi.ECHILD.Result()
	case c.exit != nil:
		if options&waitKeep == 0 {
			p.forget(c)
		}
		return c, 0
	case options&waitNoHang == 0:
		t.wait = waiting{kind: onChild, name: name, child: which}
	}
	return nil, 0
}

func sysWait4(p *Process, t *Thread, a *args) uint64 {
	c, result := p.awaitChild(t, int64(int32(a[0])), a[2]&waitNoHang, "wait4")
	if c == nil {
		return result
	}
	status := uint32(c.exit.Code) << 8
	if c.exit.Reason == Killed {
		status = uint32(c.exit.Signal)
	}
	if a[1] != 0 && !p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, status), a[1]) {
		return abi.EFAULT.Result()
	}
	if a[3] != 0 {
		p.Mem.WriteAt(make([]byte, 144), a[3]) // nothing is known of what it used
	}
	return uint64(c.pid)
}

func sysWaitid(p *Process, t *Thread, a *args) uint64 {
	const byNumber = 1
	which := int64(-1)
	if a[0] == byNumber {
		which = int64(int32(a[1]))
	}
	c, result := p.awaitChild(t, which, a[3], "waitid")
	if result != 0 || t.wait.kind == onChild {
		return result
	}
	info := make([]byte, 128)
	if c != nil {
		const exited, killed = 1, 2
		le := binary.LittleEndian
		le.PutUint32(info, uint32(abi.SIGCHLD))
		le.PutUint32(info[8:], exited)
		le.PutUint32(info[16:], c.pid)
		le.PutUint32(info[20:], files.User)
		le.PutUint32(info[24:], uint32(c.exit.Code))
		if c.exit.Reason == Killed {
			le.PutUint32(info[8:], killed)
			le.PutUint32(info[24:], uint32(c.exit.Signal))
		}
	}
	if a[2] != 0 && !p.Mem.WriteAt(info, a[2]) {
		return abi.EFAULT.Result()
	}
	return 0
}
