// Package linux is the kernel and the machine around an emulated program: it loads an
// x86-64 ELF program with the real dynamic linker and C library of the host, gives it
// threads, memory, files, signals and time, and answers its system calls.
//
// A [Process] is one program. Its threads are structures; which one executes next is up to
// the caller. [Process.Run] takes them in turn; [Process.Advance] executes one up to its
// next visible step, so that a strategy can decide. Either way the run follows from the
// program, its input and the order of the threads alone: addresses are fixed, random bytes
// come from a seed, and time is an instruction a nanosecond, which leaps when no thread can
// go on.
//
// # Files
//
// Files of the host are read, never written. What the program creates, changes or removes
// is kept in memory, over the host's files, and belongs to a snapshot like all else.
// Standard input is read whole when it is first asked for. Sockets by which the process talks
// to itself are emulated, all others are the host's (package sockets): a thread that waits for
// the host does so in real time, and only when no other thread can go on. What a program was
// refused, or did not get as asked for, is listed by [Process.Notes]; a system call that is
// missing fails with ENOSYS and is named there.
//
// # Children
//
// A child process is a [Process] as well, with the same files and pipes, and whatever program
// it executes is emulated, so that nothing that it does reaches the host. No caller decides
// about its threads: a child goes on whenever its parent makes a system call or waits, for some
// time or until it has to wait itself. A snapshot has it, too.
//
// # Waiting
//
// A thread that has to wait says for what (waiting), as data and not as code, so that a
// snapshot can keep it. A futex wait is ended by the thread that wakes; a wait for a pipe
// ends with the system call being made again; all can end by time or by a signal. When no
// thread can go on and no time would help, that is a deadlock.
//
//	process.go   the process, running, and how it ends
//	start.go     a program in memory, and its first thread
//	child.go     child processes: making them, running them, waiting for them
//	exec.go      another program in a child
//	thread.go    threads, waiting, virtual time
//	futex.go     futexes
//	signal.go    signals and their frames
//	fd.go        open files and pipes
//	epoll.go     sets of files that are waited for
//	outside.go   waiting for what is outside
//	snapshot.go  going back
//	table.go     which system calls there are
//	syscall.go   their dispatch; memory
//	sysio.go, sysfile.go, syssocket.go, sysproc.go, systime.go  all the others
package linux
