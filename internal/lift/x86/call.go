package x86

import (
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// callee is what a call or jump reaches: an address in the program, or the name of what is
// imported; neither if only a run can tell.
func (p *Program) callee(in *placedInst) (target uint64, name string) {
	if in.Args[0].Place == x86.Relative {
		target = in.Target(in.pc)
		if slot := p.stub(target); slot != 0 {
			return p.resolve(slot)
		}
		return target, ""
	}
	if in.Args[0].Place == x86.Memory && in.Mem.Base == x86.RIP {
		if slot := in.next() + uint64(in.Mem.Disp); p.image.slots[slot] != "" {
			return p.resolve(slot)
		}
	}
	return 0, ""
}

// resolve is what a slot of the dynamic linker leads to: a name or, if it is the program's
// own, the address.
func (p *Program) resolve(slot uint64) (uint64, string) {
	if to := p.slotValue(slot); to != 0 && p.image.executable(to) && p.stub(to) == 0 && p.entries[to] {
		return to, ""
	}
	return 0, p.image.slots[slot]
}

// importedBy is the name of what a jump through a slot reaches, "" if it is no such jump.
func (p *Program) importedBy(in *placedInst) string {
	_, name := p.callee(in)
	return name
}

// endsThread reports whether a call never returns.
func (p *Program) endsThread(_ uint64, name string) bool { return aborting[name] || exiting[name] }

// Functions of the C and C++ libraries that the engine has a word of its own for.
var (
	aborting = set("abort", "__assert_fail", "__assert_perror_fail", "__assert", "__stack_chk_fail", "__fortify_fail", "__chk_fail", "_ZSt9terminatev",
		"__cxa_pure_virtual", "__cxa_throw", "__cxa_rethrow", "__cxa_throw_bad_array_new_length", "_Unwind_Resume",
		"_ZSt17__throw_bad_allocv", "_ZSt20__throw_length_errorPKc", "_ZSt24__throw_out_of_range_fmtPKcz", "_ZSt20__throw_system_errori", "_ZSt19__throw_logic_errorPKc", "_ZSt16__throw_bad_castv")
	exiting    = set("exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "thrd_exit", "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "execv", "execve", "execvp")
	allocating = set("malloc", "calloc", "aligned_alloc", "memalign", "valloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t", "strdup", "strndup")
	freeing    = set("free", "cfree", "_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm", "_ZdlPvmSt11align_val_t", "realloc", "reallocarray")
	spawning   = set("pthread_create", "thrd_create", "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE")
)

// synchronising are the operations of pthread, C11 and C++.
var synchronising = map[string]ir.SyncKind{
	"pthread_mutex_lock": ir.SyncLock, "pthread_mutex_trylock": ir.SyncTryLock, "pthread_mutex_timedlock": ir.SyncTryLock, "pthread_mutex_unlock": ir.SyncUnlock,
	"pthread_spin_lock": ir.SyncLock, "pthread_spin_trylock": ir.SyncTryLock, "pthread_spin_unlock": ir.SyncUnlock,
	"pthread_rwlock_rdlock": ir.SyncReadLock, "pthread_rwlock_tryrdlock": ir.SyncTryReadLock, "pthread_rwlock_wrlock": ir.SyncLock,
	"pthread_rwlock_trywrlock": ir.SyncTryLock, "pthread_rwlock_unlock": ir.SyncUnlock,
	"mtx_lock": ir.SyncLock, "mtx_trylock": ir.SyncTryLock, "mtx_timedlock": ir.SyncTryLock, "mtx_unlock": ir.SyncUnlock,
	"pthread_cond_wait": ir.SyncConditionWait, "pthread_cond_timedwait": ir.SyncConditionWait, "pthread_cond_clockwait": ir.SyncConditionWait,
	"cnd_wait": ir.SyncConditionWait, "cnd_timedwait": ir.SyncConditionWait, "pthread_cond_signal": ir.SyncConditionWake, "pthread_cond_broadcast": ir.SyncConditionWake,
	"cnd_signal": ir.SyncConditionWake, "cnd_broadcast": ir.SyncConditionWake,
	"pthread_barrier_wait": ir.SyncConditionWait, "sem_wait": ir.SyncConditionWait, "sem_timedwait": ir.SyncConditionWait, "sem_clockwait": ir.SyncConditionWait, "sem_post": ir.SyncConditionWake,
	"pthread_join": ir.SyncGroupWait, "thrd_join": ir.SyncGroupWait, "pthread_once": ir.SyncConditionWait, "call_once": ir.SyncConditionWait,
	"_ZNSt6thread4joinEv": ir.SyncGroupWait, "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE": ir.SyncConditionWait,
	"_ZNSt18condition_variable10notify_oneEv": ir.SyncConditionWake, "_ZNSt18condition_variable10notify_allEv": ir.SyncConditionWake,
	"sched_yield": ir.SyncYield, "thrd_yield": ir.SyncYield, "pthread_yield": ir.SyncYield,
	"sleep": ir.SyncSleep, "usleep": ir.SyncSleep, "nanosleep": ir.SyncSleep, "clock_nanosleep": ir.SyncSleep, "thrd_sleep": ir.SyncSleep,
	"poll": ir.SyncPoll, "select": ir.SyncPoll, "epoll_wait": ir.SyncPoll,
}

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, n := range names {
		all[n] = true
	}
	return all
}

// call lifts a call. It reports whether the thread ends there.
func (l *lifter) call() bool {
	target, name := l.program.callee(l.inst)
	switch {
	case aborting[name]:
		l.emit(&ir.Instr{Op: ir.Test, Cause: ir.Abort, Operand: number(1, 1)})
		l.stop()
		return true
	case exiting[name]:
		l.stop()
		return true
	case name != "":
		l.callOutside(name)
		return false
	}
	sp := minus(l.get(variable(x86.RSP)), number(8, 8))
	if target != 0 {
		if fn := l.program.functions[target]; fn != nil {
			l.callFunction(fn, nil, sp)
			return false
		}
		l.callUnknown("call of " + l.program.image.FunctionName(target))
		return false
	}
	fn := l.assign(l.arg(0), "")
	l.callFunction(nil, fn, sp)
	return false
}

// callAndReturn lifts a call in tail position.
func (l *lifter) callAndReturn(target uint64) {
	name := ""
	if slot := l.program.stub(target); slot != 0 {
		target, name = l.program.resolve(slot)
	}
	fn := l.program.functions[target]
	switch {
	case aborting[name]:
		l.emit(&ir.Instr{Op: ir.Test, Cause: ir.Abort, Operand: number(1, 1)})
		l.stop()
		return
	case exiting[name]:
		l.stop()
		return
	case name != "":
		l.callOutside(name)
	case fn != nil:
		l.callFunction(fn, nil, l.get(variable(x86.RSP)))
	default:
		l.callUnknown("call of " + l.program.image.FunctionName(target))
	}
	l.returns()
}

// callFunction lifts a call of a function of the program, or of what a value says. sp is the
// stack pointer that it is entered with.
func (l *lifter) callFunction(fn *ir.Func, value, sp *ir.Expr) {
	var args []*ir.Expr
	for _, v := range parameters {
		if v == variable(x86.RSP) {
			args = append(args, sp)
			continue
		}
		args = append(args, l.get(v))
	}
	in := &ir.Instr{Op: ir.Call, Callee: fn, Target: value, Args: args, Size: ResultBytes, Dst: l.fn.NewReg("", ResultBytes)}
	if fn == nil { // what is called may be outside
		in.Sites = []uint32{l.site()}
	}
	l.emit(in)
	l.setVariablesAfterCall(ir.Register(in.Dst, ResultBytes), fn)
}

// callOutside lifts a call of something that is imported.
func (l *lifter) callOutside(name string) {
	arg := func(r x86.Reg) *ir.Expr { return l.get(variable(r)) }
	args := []*ir.Expr{arg(x86.RDI), arg(x86.RSI), arg(x86.RDX), arg(x86.RCX), arg(x86.R8), arg(x86.R9)}
	in := &ir.Instr{Op: ir.Call, Extern: name, Args: args, Size: ResultBytes, Sites: []uint32{l.site()}}
	if slot := l.program.stubSite(l.inst); slot != 0 {
		in.Sites = append(in.Sites, slot)
	}
	switch {
	case allocating[name]:
		size := args[0]
		switch name {
		case "calloc":
			size = unsigned(ir.OpMul, args[0], args[1])
		case "aligned_alloc", "memalign":
			size = args[1]
		case "strdup", "strndup":
			size = number(8, 1)
		}
		in = &ir.Instr{Op: ir.Alloc, Operand: size, Size: 8, Sites: in.Sites, Dst: l.fn.NewReg("", 8)}
		l.emit(in)
		l.setVariablesAfterCall(ir.Concat(ir.Register(in.Dst, 8), ir.Opaque("after the call", 8), ir.Opaque("after the call", 16)), nil)
		return
	case spawning[name]:
		in.Op, in.Args = ir.Spawn, nil
	case synchronising[name] != ir.SyncNone:
		in.Op, in.Sync, in.Args = ir.Sync, synchronising[name], args[:2]
	}
	in.Dst = l.fn.NewReg("", ResultBytes)
	l.emit(in)
	l.setVariablesAfterCall(ir.Register(in.Dst, ResultBytes), nil)
}

// callUnknown lifts a call of a function that is not looked into.
func (l *lifter) callUnknown(why string) {
	in := &ir.Instr{Op: ir.Call, Extern: why, Size: ResultBytes, Dst: l.fn.NewReg("", ResultBytes), Sites: []uint32{l.site()}}
	l.emit(in)
	l.setVariablesAfterCall(ir.Register(in.Dst, ResultBytes), nil)
}

// systemCall lifts a call of the kernel.
func (l *lifter) systemCall() {
	in := &ir.Instr{Op: ir.Call, Extern: "syscall", Size: 8, Dst: l.fn.NewReg("rax", 8), Sites: []uint32{l.site()}}
	l.emit(in)
	l.set(variable(x86.RAX), ir.Register(in.Dst, 8))
	l.set(variable(x86.RCX), ir.Opaque("after a system call", 8))
	l.set(variable(x86.R11), ir.Opaque("after a system call", 8))
}

// kept are the registers that a function leaves as it found them.
var kept = map[x86.Reg]bool{x86.RBX: true, x86.RBP: true, x86.RSP: true, x86.R12: true, x86.R13: true, x86.R14: true, x86.R15: true}

// setVariablesAfterCall sets the variables after a call. A function of the program may be known to leave
// more of them alone than it would have to, and compilers make use of that.
func (l *lifter) setVariablesAfterCall(result *ir.Expr, fn *ir.Func) {
	changed := l.program.changedBy(fn)
	for r := x86.RAX; r <= x86.R15; r++ {
		if !kept[r] && changed[variable(r)] {
			l.set(variable(r), ir.Opaque("after the call", 8))
		}
	}
	for r := x86.Reg(0); r < 16; r++ {
		if changed[vectorVar(r)] {
			l.set(vectorVar(r), ir.Opaque("after the call", 16))
		}
	}
	l.set(variable(x86.RAX), ir.Extract(result, 0, 8))
	if changed[variable(x86.RDX)] {
		l.set(variable(x86.RDX), ir.Extract(result, 8, 8))
	}
	if changed[vector0] {
		l.set(vector0, ir.Extract(result, 16, 16))
	}
	for v := carry; v <= belowEqual; v++ {
		l.set(v, ir.Opaque("after the call", 1))
	}
}
