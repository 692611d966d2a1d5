package binpatch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A Patch is the code of sections, linked for the address 0 of the program's file, and what
// of the program is overwritten.
type Patch struct {
	file    *file
	code    []byte // what is executed
	data    []byte // what is written, a page after the code's end
	labels  map[string]int
	moved   []uint32 // distances to the program, which change with the place of the code
	entries []site
	merged  []Section
	name    string
}

// A site is a place of the program that is overwritten.
type site struct {
	at         uint64
	trampoline uint32
	trap       bool
}

const pageSize = 4096

// dataAt is where the data is, from the beginning of the code.
func (p *Patch) dataAt() int { return (len(p.code) + pageSize - 1) &^ (pageSize - 1) }

// New makes a patch for the program in a file. name is what the program is called in
// messages. jumps are places that the program jumps to by tables, which its code does not
// show. throws says that exceptions may come out of calls.
func New(data []byte, image Image, sections []Section, jumps []uint64, name string, throws bool) (*Patch, error) {
	f, err := readFile(data)
	if err != nil {
		return nil, err
	}
	targets := f.targets(image)
	for _, pc := range jumps {
		targets[pc] = true
	}
	pl, err := newPlan(image, sections, targets)
	if err != nil {
		return nil, err
	}
	b := &builder{plan: pl, copier: &copier{assembly: newAssembly(), image: image}, unwinding: unwinding{file: f, needed: throws}}
	b.list(lockCode)
	if err := b.build(); err != nil {
		return nil, err
	}
	b.land()
	b.tables()
	p := &Patch{file: f, moved: b.relocations, name: name}
	for i := range pl.sections {
		p.merged = append(p.merged, Section{Instructions: sortedKeys(pl.sections[i]), Entries: sortedKeys(pl.starts[i])})
	}
	for _, e := range pl.entries {
		p.entries = append(p.entries, site{at: e.at, trampoline: uint32(b.labels[trampoline(e.at)]), trap: e.trap})
	}
	// A jump tells where the patch is, a breakpoint does not.
	slices.SortStableFunc(p.entries, func(a, b site) int {
		switch {
		case a.trap == b.trap:
			return 0
		case a.trap:
			return 1
		}
		return -1
	})
	p.code = b.code
	p.layData(b)
	if err := b.finish(); err != nil {
		return nil, err
	}
	p.code, p.labels = b.code, b.labels
	return p, nil
}

// layData lays out what the lock needs, a page after the code.
func (p *Patch) layData(b *builder) {
	place := func(label string, content ...byte) {
		for len(p.data)%8 != 0 {
			p.data = append(p.data, 0)
		}
		b.labels[label] = p.dataAt() + len(p.data)
		p.data = append(p.data, content...)
	}
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	place("word", 0, 0, 0, 0)
	place("depth", 0, 0, 0, 0)
	place("owner", word(0)...)
	place("timeouts", 0, 0, 0, 0)
	text := fmt.Sprintf("cofferdam: %s: a thread waited one second for a section that was added, and goes on without it\n", p.name)
	place("length", binary.LittleEndian.AppendUint32(nil, uint32(len(text)))...)
	place("message", []byte(text)...)
	traps := p.traps()
	place("count", binary.LittleEndian.AppendUint32(nil, uint32(len(traps)))...)
	place("traps")
	for _, t := range traps {
		p.data = append(p.data, word(t.at)...)
		p.data = append(p.data, word(uint64(t.trampoline))...)
	}
	// struct sigaction as the kernel has it: handler, flags (SA_SIGINFO, SA_RESTORER,
	// SA_ONSTACK), restorer, mask; and the one that was there before.
	place("action", word(uint64(b.labels["trapped"]))...)
	p.data = append(p.data, word(0x0c000004)...)
	p.data = append(p.data, word(uint64(b.labels["resume"]))...)
	p.data = append(p.data, word(0)...)
	place("oldaction", make([]byte, 32)...)
	place(resumeLabel, word(0)...)
	place(personalityLabel, word(0)...)
}

func (p *Patch) traps() []site {
	var all []site
	for _, e := range p.entries {
		if e.trap {
			all = append(all, e)
		}
	}
	return all
}

// Size is how large the code and data of the patch are, Entries how many places of the
// program are overwritten, and Traps how many of them by breakpoints.
func (p *Patch) Size() int    { return len(p.code) + len(p.data) }
func (p *Patch) Entries() int { return len(p.entries) }
func (p *Patch) Traps() int   { return len(p.traps()) }

// Sections are the sections as they were written: those that have instructions in common as
// one.
func (p *Patch) Sections() []Section { return p.merged }

// Entry is the address of a place that is overwritten, in the program's file: by a jump, if
// there is one.
func (p *Patch) Entry() uint64 { return p.entries[0].at }

// HeldState is what only the lock's holder changes, from and to, given where the counter of
// timeouts is.
func (p *Patch) HeldState(timeouts uint64) (from, to uint64) {
	start := timeouts - uint64(p.labels["timeouts"])
	return start + uint64(p.labels["depth"]), start + uint64(p.labels["timeouts"])
}

// Timeouts is where the patch counts how often a thread went on without the lock, given
// what the processor finds at Entry, which was loaded at an address: 0 if that is not the
// patch's.
func (p *Patch) Timeouts(at uint64, overwritten []byte) uint64 {
	if len(overwritten) < jumpSize || overwritten[0] != 0xe9 {
		return 0
	}
	distance := int64(int32(binary.LittleEndian.Uint32(overwritten[1:])))
	start := at + jumpSize + uint64(distance) - uint64(p.entries[0].trampoline)
	return start + uint64(p.labels["timeouts"])
}

// A builder writes the copies of all sections.
type builder struct {
	*plan
	*copier
	pending   []exit // ways out of the section at hand that jumps take
	exits     int
	unwinding unwinding
}

// An exit is a way out of a section.
type exit struct {
	label  string
	target uint64
}

func trampoline(pc uint64) string { return fmt.Sprintf("enter %#x", pc) }

func copied(pc uint64) string { return fmt.Sprintf("copy %#x", pc) }

// Around a call of acquire or release the stack pointer leaves alone what a function may use
// below it.
var (
	lower = []byte{0x48, 0x8d, 0x64, 0x24, 0x80}                   // lea rsp, [rsp-0x80]
	raise = []byte{0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00} // lea rsp, [rsp+0x80]
)

func (b *builder) callLock(function string) {
	b.emit(lower...)
	b.emitTo(function, 0xe8)
	b.emit(raise...)
}

func (b *builder) build() error {
	for i := range b.sections {
		for _, at := range sortedKeys(b.starts[i]) {
			b.label(trampoline(at))
			b.callLock("acquire")
			b.emitTo(copied(at), 0xe9)
		}
		for _, pc := range sortedKeys(b.sections[i]) {
			if err := b.instruction(pc, i); err != nil {
				return err
			}
		}
		for _, e := range b.pending {
			b.label(e.label)
			b.leave(e.target)
		}
		b.pending = nil
	}
	// What is overwritten besides is executed from copies, without the lock.
	for _, pc := range sortedKeys(b.displaced) {
		if !b.inSection(pc) {
			if err := b.instruction(pc, -1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) inSection(pc uint64) bool {
	for _, s := range b.sections {
		if s[pc] {
			return true
		}
	}
	return false
}

// stays reports whether control that goes to an address stays in the section.
func (b *builder) stays(pc uint64, section int) bool {
	return section >= 0 && b.sections[section][pc] && !b.starts[section][pc]
}

// leave releases the lock and goes on elsewhere.
func (b *builder) leave(target uint64) {
	b.callLock("release")
	b.goTo(target)
}

// goTo goes to an address of the program, without the lock: to the entry of a section, to
// the copy of what is overwritten, or to the program itself.
func (b *builder) goTo(target uint64) {
	switch {
	case b.isEntry(target):
		b.emitTo(trampoline(target), 0xe9)
	case b.displaced[target]:
		b.emitTo(copied(target), 0xe9)
	default:
		b.toProgram(target, 0xe9)
	}
}

// jumpTo adds a jump by an opcode of two bytes, or one, to where an instruction of a section
// jumps.
func (b *builder) jumpTo(target uint64, section int, opcode ...byte) {
	if b.stays(target, section) {
		b.emitTo(copied(target), opcode...)
		return
	}
	b.exits++
	e := exit{fmt.Sprintf("exit %d", b.exits), target}
	b.emitTo(e.label, opcode...)
	b.pending = append(b.pending, e)
}

// instruction copies an instruction of a section, or of none (-1), and what comes after it
// if that does not follow anyway.
func (b *builder) instruction(pc uint64, section int) error {
	var in x86.Inst
	if !b.copier.image.Decode(pc, &in) {
		return fmt.Errorf("there is no instruction at %#x", pc)
	}
	next := pc + uint64(in.Len)
	b.label(copied(pc))
	switch in.Op {
	case x86.RET:
		if section >= 0 {
			b.callLock("release")
		}
		return b.plain(pc, &in)
	case x86.JMP:
		if in.Args[0].Place == x86.Relative {
			b.flowTo(in.Target(pc), section)
			return nil
		}
		if section >= 0 {
			b.callLock("release")
		}
		return b.plain(pc, &in)
	case x86.JCC:
		if section < 0 {
			b.conditional(in.Target(pc), 0x0f, 0x80|byte(in.Cond))
		} else {
			b.jumpTo(in.Target(pc), section, 0x0f, 0x80|byte(in.Cond))
		}
	case x86.LOOP, x86.LOOPE, x86.LOOPNE, x86.JRCXZ:
		// They reach 127 bytes: over a jump, or to it.
		raw := b.copier.image.Bytes(pc, int(in.Len))
		b.emit(raw[:len(raw)-1]...)
		b.emit(2, 0xeb, 5)
		if section < 0 {
			b.conditional(in.Target(pc), 0xe9)
		} else {
			b.jumpTo(in.Target(pc), section, 0xe9)
		}
	case x86.CALL:
		start := len(b.code)
		if in.Args[0].Place == x86.Relative {
			b.toProgram(in.Target(pc), 0xe8)
		} else if err := b.plain(pc, &in); err != nil {
			return err
		}
		b.unwinding.note(start, len(b.code), next, section)
	case x86.UD2, x86.HLT:
		return b.plain(pc, &in)
	default:
		if err := b.plain(pc, &in); err != nil {
			return err
		}
	}
	if section >= 0 && b.stays(next, section) {
		return nil // its copy is the next one
	}
	if section < 0 && b.displaced[next] && !b.inSection(next) && !b.isEntry(next) {
		return nil
	}
	b.flowTo(next, section)
	return nil
}

// flowTo goes to where control goes from an instruction in any case.
func (b *builder) flowTo(target uint64, section int) {
	switch {
	case section < 0:
		b.goTo(target)
	case b.stays(target, section):
		b.emitTo(copied(target), 0xe9)
	default:
		b.leave(target)
	}
}

// conditional is a jump of an instruction that belongs to no section.
func (b *builder) conditional(target uint64, opcode ...byte) {
	switch {
	case b.isEntry(target):
		b.emitTo(trampoline(target), opcode...)
	case b.displaced[target]:
		b.emitTo(copied(target), opcode...)
	default:
		b.toProgram(target, opcode...)
	}
}
