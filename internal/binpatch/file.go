package binpatch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A file is the program that is patched.
type file struct {
	data       []byte
	headers    []byte // the program headers, as they are in memory too
	headersAt  uint64 // their address
	text       *elf.Prog
	start, end uint64 // of the image
	elf        *elf.File
}

// readFile reads what a patch depends on.
func readFile(data []byte) (*file, error) {
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	f := &file{data: data, elf: e, start: ^uint64(0)}
	offset, size, count := binary.LittleEndian.Uint64(data[32:]), uint64(binary.LittleEndian.Uint16(data[54:])), uint64(binary.LittleEndian.Uint16(data[56:]))
	if size != headerSize || offset+size*count > uint64(len(data)) {
		return nil, errors.New("the program's headers are not as x86-64 has them")
	}
	f.headers = data[offset:][:size*count]
	for _, ph := range e.Progs {
		if ph.Type != elf.PT_LOAD {
			continue
		}
		f.start, f.end = min(f.start, ph.Vaddr&^(pageSize-1)), max(f.end, ph.Vaddr+ph.Memsz)
		if offset >= ph.Off && offset < ph.Off+ph.Filesz {
			f.headersAt = ph.Vaddr + offset - ph.Off
		}
		if ph.Flags&elf.PF_X == 0 {
			continue
		}
		if f.text != nil {
			return nil, errors.New("the program has its code in several segments")
		}
		f.text = ph
	}
	if f.text == nil || f.headersAt == 0 && f.start != 0 {
		return nil, errors.New("the program has no code, or does not map its headers")
	}
	return f, nil
}

const headerSize = 56

// targets are the places that the code of the program shows it jumps to, and calls. What is
// data between functions may look like code, which only makes more of them.
func (f *file) targets(image Image) map[uint64]bool {
	all := map[uint64]bool{f.elf.Entry: true}
	end := f.text.Vaddr + f.text.Filesz
	for pc := f.text.Vaddr; pc < end; {
		var in x86.Inst
		if !image.Decode(pc, &in) {
			pc++
			continue
		}
		if in.Args[0].Place == x86.Relative {
			all[in.Target(pc)] = true
		}
		if in.Op == x86.ENDBR64 {
			all[pc] = true // it is there because something may jump to it
		}
		pc += uint64(in.Len)
	}
	return all
}

const (
	hashSeed  = 0xcbf29ce484222325
	hashPrime = 0x9e3779b97f4a7c15
)

// hash is of the code, as the initialiser computes it.
func hash(code []byte) uint64 {
	h := uint64(hashSeed)
	for ; len(code) >= 8; code = code[8:] {
		h = (h ^ binary.LittleEndian.Uint64(code)) * hashPrime
		h ^= h >> 32
	}
	for _, b := range code {
		h = (h ^ uint64(b)) * hashPrime
	}
	return h
}
