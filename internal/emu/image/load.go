package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

// Where programs are that can be anywhere, and their interpreters.
const (
	ProgramBase     = 0x555555554000
	InterpreterBase = 0x7ffff7fc0000
)

// An Image is an ELF file in memory: the program, or its interpreter.
type Image struct {
	Path string
	// Base is added to the addresses in the file. End is behind the last segment.
	Base, Entry, End uint64
	// Interpreter is the file of the dynamic linker, "" if there is none.
	Interpreter string
	// Go says that it is a program of Go's.
	Go bool

	headers     uint64 // address of the program headers
	count, size uint64 // their number and size
}

// Dynamic reports whether the program is loaded by a dynamic linker.
func (im *Image) Dynamic() bool { return im.Interpreter != "" }

// Load maps an ELF file at base, or where it says itself.
func Load(space *mem.Space, file *mem.File, path string, base uint64) (Image, error) {
	data := file.Data()
	if bytes.HasPrefix(data, []byte("#!")) {
		return Image{}, fmt.Errorf("loading %s: it is a script; name the program that interprets it, and the script as an argument", path)
	}
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return Image{}, fmt.Errorf("loading %s: it is no ELF program; of a script, give the interpreter with -binary and the script after --", path)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
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
	im := Image{Path: path, Base: base, Entry: base + f.Entry, Go: f.Section(".go.buildinfo") != nil || f.Section(".gopclntab") != nil}
	phoff := binary.LittleEndian.Uint64(data[32:])
	im.size, im.count = uint64(binary.LittleEndian.Uint16(data[54:])), uint64(binary.LittleEndian.Uint16(data[56:]))
	for _, ph := range f.Progs {
		switch ph.Type {
		case elf.PT_LOAD:
			im.segment(space, file, ph)
			if phoff >= ph.Off && phoff < ph.Off+ph.Filesz {
				im.headers = base + ph.Vaddr + phoff - ph.Off
			}
		case elf.PT_INTERP:
			name := make([]byte, ph.Filesz)
			if _, err := ph.ReadAt(name, 0); err == nil {
				im.Interpreter = string(bytes.TrimRight(name, "\x00"))
			}
		}
	}
	return im, nil
}

func (im *Image) segment(space *mem.Space, file *mem.File, ph *elf.Prog) {
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
		space.Map(mem.Area{Start: start - skew, End: roundUp(fileEnd), Prot: prot, File: file, Offset: int64(ph.Off - skew), Name: im.Path})
	}
	if memEnd > fileEnd {
		if ph.Filesz > 0 {
			// The rest of the last page holds more of the file, where zeroes are expected.
			space.Poke(make([]byte, roundUp(fileEnd)-fileEnd), fileEnd)
			start = roundUp(fileEnd)
		}
		if roundUp(memEnd) > roundUp(fileEnd) {
			space.Map(mem.Area{Start: start &^ (page - 1), End: roundUp(memEnd), Prot: prot, Name: im.Path})
		}
	}
	im.End = max(im.End, roundUp(memEnd))
}

func roundUp(v uint64) uint64 { return (v + mem.PageSize - 1) &^ (mem.PageSize - 1) }
