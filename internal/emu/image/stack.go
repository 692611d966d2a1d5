package image

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
)

// Where the first stack is.
const (
	stackTop  = 0x7ffffffff000
	stackSize = 132 << 10
)

// A Start is what a program is told when it starts.
type Start struct {
	Args, Env []string
	// Interpreter is where the dynamic linker is, 0 if there is none.
	Interpreter uint64
	// User is the user and the group, Features what CPUID says about the processor.
	User     uint64
	Features uint32
	Random   [16]byte
}

// Stack maps a stack, writes arguments, environment and auxiliary vector, and returns the
// stack pointer.
func (im *Image) Stack(space *mem.Space, s *Start) uint64 {
	size := uint64(stackSize)
	for _, text := range append(s.Args[:len(s.Args):len(s.Args)], s.Env...) {
		size += uint64(len(text))
	}
	size = roundUp(size)
	space.Map(mem.Area{Start: stackTop - size, End: stackTop, Prot: mem.Read | mem.Write, Grows: true, Name: "[stack]"})
	at := uint64(stackTop - 16)
	push := func(b []byte) uint64 {
		at -= uint64(len(b))
		space.Poke(b, at)
		return at
	}
	str := func(s string) uint64 { return push(append([]byte(s), 0)) }
	name := str(im.Path)
	platform := str("x86_64")
	randomAt := push(s.Random[:])
	words := []uint64{uint64(len(s.Args))}
	for _, list := range [][]string{s.Args, s.Env} {
		for _, text := range list {
			words = append(words, str(text))
		}
		words = append(words, 0)
	}
	const (
		atPhdr, atPhent, atPhnum, atPagesz, atBase, atFlags, atEntry          = 3, 4, 5, 6, 7, 8, 9
		atUID, atEUID, atGID, atEGID, atPlatform, atHwcap, atClktck, atSecure = 11, 12, 13, 14, 15, 16, 17, 23
		atRandom, atHwcap2, atExecfn                                          = 25, 26, 31
	)
	words = append(words,
		atHwcap, uint64(s.Features), atPagesz, mem.PageSize, atClktck, 100, atPhdr, im.headers, atPhent, im.size, atPhnum, im.count,
		atBase, s.Interpreter, atFlags, 0, atEntry, im.Entry, atUID, s.User, atEUID, s.User, atGID, s.User, atEGID, s.User, atSecure, 0,
		atRandom, randomAt, atHwcap2, 0, atExecfn, name, atPlatform, platform, 0, 0)
	at = (at - 8*uint64(len(words))) &^ 15
	for i, w := range words {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], w)
		space.Poke(b[:], at+8*uint64(i))
	}
	return at
}
