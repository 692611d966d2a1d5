package linux

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

// sysExecve has a child execute another program. The program itself cannot: what is explored
// is one program.
func sysExecve(p *Process, t *Thread, a *args) uint64 {
	path, e := p.path(cwd(), a[0])
	if e != 0 {
		return e.Result()
	}
	argv, ok := p.texts(a[1])
	env, also := p.texts(a[2])
	if !ok || !also {
		return abi.EFAULT.Result()
	}
	n, e := p.executable(path)
	if e != 0 {
		return e.Result()
	}
	for range maxInterpreters {
		line, isScript := bytes.CutPrefix(n.Data, []byte("#!"))
		if !isScript {
			break
		}
		line, _, _ = bytes.Cut(line, []byte("\n"))
		words := strings.Fields(string(line))
		if len(words) == 0 {
			return abi.ENOEXEC.Result()
		}
		// The rest of the line is one argument, and the script takes the place of the first.
		if rest := words[1:]; len(rest) > 0 {
			words = []string{words[0], strings.Join(rest, " ")}
		}
		argv = append(append(words, path), argv[min(1, len(argv)):]...)
		path = files.Absolute(p.dir, words[0])
		if n, e = p.executable(path); e != 0 {
			return e.Result()
		}
	}
	if !bytes.HasPrefix(n.Data, []byte(elf.ELFMAG)) {
		return abi.ENOEXEC.Result()
	}
	if p.parent == nil {
		p.exit = &Exit{Reason: Lacking, Thread: t, PC: t.CPU.PC, Text: fmt.Sprintf("the program executes %s in its own place: explore that program itself, with -binary %s and its arguments", path, path)}
		return 0
	}
	p.become(n, path, t, argv, env)
	return 0
}

// maxInterpreters is how many scripts may be interpreted by scripts.
const maxInterpreters = 4

// executable is a file that may be executed.
func (p *Process) executable(path string) (*files.Node, abi.Errno) {
	n, e := p.lookup(path, true)
	const permission = 0o111
	if e == 0 && (n.Kind != files.Regular || n.Mode&permission == 0) {
		e = abi.EACCES
	}
	return n, e
}

// texts reads a list of strings that ends with a null pointer.
func (p *Process) texts(addr uint64) (all []string, ok bool) {
	const most = 1 << 16
	for ; addr != 0 && len(all) < most; addr += 8 {
		at, ok := p.Mem.Word(addr)
		if !ok {
			return nil, false
		}
		if at == 0 {
			return all, true
		}
		text, ok := p.Mem.String(at, 128<<10)
		if !ok {
			return nil, false
		}
		all = append(all, text)
	}
	return all, addr == 0
}

// become makes a process one of another program, of which t is the only thread.
func (p *Process) become(n *files.Node, path string, t *Thread, argv, env []string) {
	for i, d := range p.fds {
		if d.closeOnExec {
			p.close(uint64(i))
		}
	}
	p.resetHandlers()
	p.Mem, p.Code = mem.NewSpace(), p.newCode()
	p.alarm = 0
	p.threads = nil
	fresh := p.newThread()
	fresh.CPU.Count = t.CPU.Count
	fresh.TID, fresh.blocked, fresh.pending = p.pid, t.blocked, t.pending
	// The thread and its processor stay the objects that the caller is about to go on with.
	processor := t.CPU
	*processor = *fresh.CPU
	*t = *fresh
	t.CPU = processor
	p.threads = []*Thread{t}
	if err := p.load(n, path, t, argv, env); err != nil {
		p.exit = &Exit{Reason: Lacking, Thread: t, Text: err.Error()}
	}
}
