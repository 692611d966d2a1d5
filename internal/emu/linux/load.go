package linux

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Where things are, as on a machine that does not randomise.
const (
	pieBase    = 0x555555554000
	interpBase = 0x7ffff7fc0000
	mmapTop    = 0x7ffff7fbf000
	stackTop   = 0x7ffffffff000
	stackSize  = 132 << 10
)

// An Image is an ELF file in memory: the program, or its interpreter.
type Image struct {
	Path string
	// Base is added to the addresses in the file.
	Base, Entry uint64
	headers     uint64 // address of the program headers
	count, size uint64 // their number and size
	end         uint64
	interp      string
}

// Dynamic reports whether the program is loaded by a dynamic linker.
func (im *Image) Dynamic() bool { return im.interp != "" }

// loadELF maps an ELF file at base, or where it says itself.
func (p *Process) loadELF(path string, base uint64) (Image, error) {
	n, e := p.lookup(resolve(path), true)
	switch {
	case e == abi.EACCES:
		return Image{}, fmt.Errorf("loading %s: it may not be read", path)
	case e != 0:
		return Image{}, fmt.Errorf("loading %s: there is no such file", path)
	case n.kind == directory:
		return Image{}, fmt.Errorf("loading %s: it is a directory", path)
	}
	if bytes.HasPrefix(n.data, []byte("#!")) {
		return Image{}, fmt.Errorf("loading %s: it is a script; name the program that interprets it, and the script as an argument", path)
	}
	if !bytes.HasPrefix(n.data, []byte(elf.ELFMAG)) {
		return Image{}, fmt.Errorf("loading %s: it is no ELF program; of a script, give the interpreter with -binary and the script after --", path)
	}
	f, err := elf.NewFile(bytes.NewReader(n.data))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Image{}, fmt.Errorf("loading %s: the file is cut off", path)
	}
	if err != nil {
		return Image{}, fmt.Errorf("loading %s: %w", path, err)
	}
	defer f.Close()
	switch {
	case f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64:
		return Image{}, fmt.Errorf("loading %s: it is a program for %v; only x86-64 is emulated", path, f.Machine)
	case f.Type == elf.ET_EXEC:
		base = 0
	case f.Type != elf.ET_DYN:
		return Image{}, fmt.Errorf("loading %s: it is not a program", path)
	}
	if f.Section(".go.buildinfo") != nil || f.Section(".gopclntab") != nil {
		return Image{}, errors.New("loading " + path + ": it is a Go program, whose goroutines are not threads; explore it from source, without -binary")
	}
	im := Image{Path: path, Base: base, Entry: base + f.Entry}
	phoff := binary.LittleEndian.Uint64(n.data[32:])
	im.size, im.count = uint64(binary.LittleEndian.Uint16(n.data[54:])), uint64(binary.LittleEndian.Uint16(n.data[56:]))
	for _, ph := range f.Progs {
		switch ph.Type {
		case elf.PT_LOAD:
			p.loadSegment(&im, n, ph)
			if phoff >= ph.Off && phoff < ph.Off+ph.Filesz {
				im.headers = base + ph.Vaddr + phoff - ph.Off
			}
		case elf.PT_INTERP:
			name := make([]byte, ph.Filesz)
			if _, err := ph.ReadAt(name, 0); err == nil {
				im.interp = string(bytes.TrimRight(name, "\x00"))
			}
		}
	}
	return im, nil
}

func (p *Process) loadSegment(im *Image, n *node, ph *elf.Prog) {
	const page = mem.PageSize
	var prot uint8
	if ph.Flags&elf.PF_R != 0 {
		prot |= mem.Read
	}
	if ph.Flags&elf.PF_W != 0 {
		prot |= mem.Write
	}
	if ph.Flags&elf.PF_X != 0 {
		prot |= mem.Exec
	}
	start := im.Base + ph.Vaddr
	skew := start % page
	fileEnd, memEnd := start+ph.Filesz, start+ph.Memsz
	if ph.Filesz > 0 {
		p.Mem.Map(mem.Area{Start: start - skew, End: roundUp(fileEnd), Prot: prot, File: n.mapped(), Offset: int64(ph.Off - skew), Name: im.Path})
	}
	if memEnd > fileEnd {
		if ph.Filesz > 0 {
			// The rest of the last page holds more of the file, where zeroes are expected.
			p.Mem.Poke(make([]byte, roundUp(fileEnd)-fileEnd), fileEnd)
			start = roundUp(fileEnd)
		}
		if roundUp(memEnd) > roundUp(fileEnd) {
			p.Mem.Map(mem.Area{Start: start &^ (page - 1), End: roundUp(memEnd), Prot: prot, Name: im.Path})
		}
	}
	im.end = max(im.end, roundUp(memEnd))
}

func roundUp(v uint64) uint64 { return (v + mem.PageSize - 1) &^ (mem.PageSize - 1) }

// load maps the program, its interpreter and a stack, and returns where to start.
func (p *Process) load() (entry, sp uint64, err error) {
	if p.config.Path, err = filepath.Abs(p.config.Path); err != nil {
		return 0, 0, err
	}
	p.program, err = p.loadELF(p.config.Path, pieBase)
	if err != nil {
		return 0, 0, err
	}
	p.brk = p.program.end
	p.brkStart = p.brk
	entry = p.program.Entry
	interp := Image{}
	if p.program.interp != "" {
		if interp, err = p.loadELF(p.program.interp, interpBase); err != nil {
			return 0, 0, err
		}
		entry = interp.Entry
	}
	p.Mem.Map(mem.Area{Start: stackTop - stackSize, End: stackTop, Prot: mem.Read | mem.Write, Grows: true, Name: "[stack]"})
	return entry, p.initialStack(interp.Base), nil
}

// initialStack writes arguments, environment and auxiliary vector, and returns the stack
// pointer.
func (p *Process) initialStack(interp uint64) uint64 {
	at := uint64(stackTop - 16)
	push := func(b []byte) uint64 {
		at -= uint64(len(b))
		p.Mem.Poke(b, at)
		return at
	}
	str := func(s string) uint64 { return push(append([]byte(s), 0)) }
	name := str(p.config.Path)
	platform := str("x86_64")
	var random [16]byte
	p.random(random[:])
	randomAt := push(random[:])
	words := []uint64{uint64(len(p.config.Args))}
	for _, list := range [][]string{p.config.Args, p.config.Env} {
		for _, s := range list {
			words = append(words, str(s))
		}
		words = append(words, 0)
	}
	const (
		atPhdr, atPhent, atPhnum, atPagesz, atBase, atFlags, atEntry          = 3, 4, 5, 6, 7, 8, 9
		atUID, atEUID, atGID, atEGID, atPlatform, atHwcap, atClktck, atSecure = 11, 12, 13, 14, 15, 16, 17, 23
		atRandom, atHwcap2, atExecfn                                          = 25, 26, 31
	)
	_, _, _, hwcap := cpuFeatures()
	words = append(words,
		atHwcap, uint64(hwcap), atPagesz, mem.PageSize, atClktck, 100, atPhdr, p.program.headers, atPhent, p.program.size, atPhnum, p.program.count,
		atBase, interp, atFlags, 0, atEntry, p.program.Entry, atUID, userID, atEUID, userID, atGID, userID, atEGID, userID, atSecure, 0,
		atRandom, randomAt, atHwcap2, 0, atExecfn, name, atPlatform, platform, 0, 0)
	at = (at - 8*uint64(len(words))) &^ 15
	for i, w := range words {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], w)
		p.Mem.Poke(b[:], at+8*uint64(i))
	}
	return at
}

// userID is the user that programs run as: nobody special, and always the same.
const userID = 1000

// start makes the first thread.
func (p *Process) start() error {
	entry, sp, err := p.load()
	if err != nil {
		return err
	}
	t := p.newThread()
	t.CPU.PC = entry
	t.CPU.R[x86.RSP] = sp
	return nil
}
