package binpatch

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// dynamicSize is how long the dynamic section is: a tag and a value for each of ten.
const dynamicSize = 10 * 16

// SharedObject is the patch as a file to be loaded with LD_PRELOAD.
//
// It has two segments: one that is executed and read, with the headers, the tables that the
// dynamic linker wants, the initialiser, what it is told about the program, and the code and
// data of the sections; and one that is written, with the dynamic section, which the dynamic
// linker changes, and the addresses that it fills in.
func (p *Patch) SharedObject() ([]byte, error) {
	a := newAssembly()
	const segments = 4
	a.emit(make([]byte, 64+segments*headerSize)...)
	align := func(n int) {
		for len(a.code)%n != 0 {
			a.emit(0)
		}
	}
	words := func(label string, values ...uint64) {
		align(8)
		a.label(label)
		for _, v := range values {
			a.emit(binary.LittleEndian.AppendUint64(nil, v)...)
		}
	}
	p.imports(a, words)
	align(16)
	a.list(loadCode)
	p.describe(words)
	text := fmt.Sprintf("cofferdam: %s: the system does not allow it to be patched; it runs as it is\n", p.name)
	words("refusalSize", uint64(len(text)))
	a.label("refusal")
	a.emit([]byte(text)...)
	align(8)
	a.label("headers")
	a.emit(p.file.headers...)
	words("patches")
	for _, e := range p.entries {
		kind := uint64(jumpSize)
		if e.trap {
			kind = 1
		}
		a.emit(binary.LittleEndian.AppendUint64(nil, e.at)...)
		a.emit(binary.LittleEndian.AppendUint64(nil, uint64(e.trampoline)|kind<<32)...)
	}
	a.label("relocations")
	for _, at := range p.moved {
		a.emit(binary.LittleEndian.AppendUint32(nil, at)...)
	}
	align(8)
	a.label("code")
	a.emit(p.code...)
	align(8)
	a.label("data")
	a.emit(p.data...)
	align(8)
	// In memory the second segment is a page further on than in the file.
	for i, name := range imported {
		a.labels[name] = len(a.code) + pageSize + dynamicSize + 8*i
	}
	if err := a.finish(); err != nil {
		return nil, err
	}
	return p.wrap(a), nil
}

// imported are what the initialiser needs of other libraries: to find the environment, and for
// unwinding. They are weak: a program without exceptions has none of the latter.
var imported = []string{"gnu_get_libc_version", "environ", "__register_frame", "_Unwind_Resume", "__gxx_personality_v0"}

// imports writes the tables of symbols, of their names, and of their hashes: all are undefined,
// so the last has one bucket, which is empty.
func (p *Patch) imports(a *assembly, words func(string, ...uint64)) {
	words("symbols", 0, 0, 0)
	const weakFunction = 2<<4 | 2
	names := []byte{0}
	for _, name := range imported {
		words("symbol "+name, uint64(len(names))|weakFunction<<32, 0, 0)
		names = append(append(names, name...), 0)
	}
	a.label("names")
	a.emit(names...)
	a.label("namesEnd")
	words("buckets", 1|uint64(1+len(imported))<<32, 0, 0, 0, 0)
}

// describe tells the initialiser about the program and the patch.
func (p *Patch) describe(words func(string, ...uint64)) {
	f := p.file
	words("headerCount", uint64(len(f.headers)/headerSize))
	words("headersAt", f.headersAt)
	words("textAt", f.text.Vaddr)
	words("textSize", f.text.Filesz)
	words("textHash", hash(f.data[f.text.Off:][:f.text.Filesz]))
	words("hashSeed", hashSeed)
	words("hashPrime", hashPrime)
	words("imageStart", f.start)
	words("imageEnd", (f.end+0xffff)&^0xffff)
	words("blobSize", uint64((p.dataAt()+len(p.data)+pageSize-1)&^(pageSize-1)))
	words("codeSize", uint64(len(p.code)))
	words("dataAt", uint64(p.dataAt()))
	words("dataSize", uint64(len(p.data)))
	words("relocationCount", uint64(len(p.moved)))
	words("trapCount", uint64(len(p.traps())))
	words("trapsAt", uint64(p.labels["traps"]))
	words("actionAt", uint64(p.labels["action"]))
	words("patchCount", uint64(len(p.entries)))
	words("framesAt", uint64(p.labels[framesLabel]))
	words("resumeAt", uint64(p.labels[resumeLabel]))
}

// wrap adds the dynamic section and fills in the headers.
func (p *Patch) wrap(a *assembly) []byte {
	at := func(label string) uint64 { return uint64(a.labels[label]) }
	executed := uint64(len(a.code))
	dynamicOffset, dynamicAt := executed, executed+pageSize
	slots := dynamicAt + dynamicSize
	le := binary.LittleEndian
	out := a.code
	tags := []uint64{
		uint64(elf.DT_INIT), at("init"), uint64(elf.DT_HASH), at("buckets"), uint64(elf.DT_STRTAB), at("names"), uint64(elf.DT_SYMTAB), at("symbols"),
		uint64(elf.DT_STRSZ), at("namesEnd") - at("names"), uint64(elf.DT_SYMENT), 24,
		uint64(elf.DT_RELA), slots + uint64(8*len(imported)), uint64(elf.DT_RELASZ), uint64(24 * len(imported)), uint64(elf.DT_RELAENT), 24, uint64(elf.DT_NULL), 0,
	}
	for range imported {
		tags = append(tags, 0) // its address
	}
	for i := range imported {
		tags = append(tags, slots+uint64(8*i), uint64(elf.R_X86_64_GLOB_DAT)|uint64(i+1)<<32, 0)
	}
	for _, v := range tags {
		out = le.AppendUint64(out, v)
	}
	size := uint64(8 * len(tags))
	copy(out, []byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)})
	le.PutUint16(out[16:], uint16(elf.ET_DYN))
	le.PutUint16(out[18:], uint16(elf.EM_X86_64))
	le.PutUint32(out[20:], uint32(elf.EV_CURRENT))
	le.PutUint64(out[32:], 64) // the program headers
	le.PutUint16(out[52:], 64)
	le.PutUint16(out[54:], headerSize)
	le.PutUint16(out[56:], 4)
	le.PutUint16(out[58:], 64) // the size of section headers, of which there are none
	header := func(i int, kind elf.ProgType, flags elf.ProgFlag, offset, addr, size, align uint64) {
		b := out[64+i*headerSize:]
		le.PutUint32(b, uint32(kind))
		le.PutUint32(b[4:], uint32(flags))
		for j, v := range []uint64{offset, addr, addr, size, size, align} {
			le.PutUint64(b[8+8*j:], v)
		}
	}
	header(0, elf.PT_LOAD, elf.PF_R|elf.PF_X, 0, 0, executed, pageSize)
	header(1, elf.PT_LOAD, elf.PF_R|elf.PF_W, dynamicOffset, dynamicAt, size, pageSize)
	header(2, elf.PT_DYNAMIC, elf.PF_R|elf.PF_W, dynamicOffset, dynamicAt, dynamicSize, 8)
	header(3, elf.PT_GNU_STACK, elf.PF_R|elf.PF_W, 0, 0, 0, 16)
	return out
}
