package linux

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/image"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// mmapTop is below what memory is given that a program asks for.
const mmapTop = image.InterpreterBase - 0x1000

// start loads the program and makes the first thread.
func (p *Process) start() error {
	path, err := filepath.Abs(p.config.Path)
	if err != nil {
		return err
	}
	n, e := p.lookup(files.Resolve(path), true)
	switch {
	case e == abi.EACCES:
		return fmt.Errorf("loading %s: it may not be read", path)
	case e != 0:
		return fmt.Errorf("loading %s: there is no such file", path)
	case n.Kind == files.Directory:
		return fmt.Errorf("loading %s: it is a directory", path)
	}
	if err := p.load(n, path, p.newThread(), p.config.Args, p.config.Env); err != nil {
		return err
	}
	if p.program.Go {
		return errors.New("loading " + path + ": it is a Go program, whose goroutines are not threads; explore it from source, without -binary")
	}
	return nil
}

// load puts a program and its interpreter into memory, and has a thread start it.
func (p *Process) load(n *files.Node, path string, t *Thread, args, env []string) error {
	program, err := image.Load(p.Mem, n.Mapped(), path, image.ProgramBase)
	if err != nil {
		return err
	}
	p.program, p.brk, p.brkStart = program, program.End, program.End
	entry, interpreter := program.Entry, image.Image{}
	if program.Dynamic() {
		linker, e := p.lookup(files.Resolve(program.Interpreter), true)
		if e != 0 {
			return fmt.Errorf("loading %s: its dynamic linker, %s, is not there", path, program.Interpreter)
		}
		if interpreter, err = image.Load(p.Mem, linker.Mapped(), program.Interpreter, image.InterpreterBase); err != nil {
			return err
		}
		entry = interpreter.Entry
	}
	begin := &image.Start{Args: args, Env: env, Interpreter: interpreter.Base, User: files.User}
	_, _, _, begin.Features = cpu.CPUID(1, 0)
	p.random(begin.Random[:])
	t.CPU.PC, t.CPU.R[x86.RSP] = entry, program.Stack(p.Mem, begin)
	return nil
}

func roundUp(v uint64) uint64 { return (v + mem.PageSize - 1) &^ (mem.PageSize - 1) }
