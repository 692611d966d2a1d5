package linux

import (
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// A call is a system call that is emulated.
type call func(p *Process, t *Thread, a *args) uint64

// calls are the system calls by their names.
var calls = map[string]call{
	"read": sysRead, "write": sysWrite, "open": sysOpen, "close": sysClose, "stat": sysStat, "fstat": sysFstat, "lstat": sysLstat,
	"poll": sysPoll, "lseek": sysLseek, "mmap": sysMmap, "mprotect": sysMprotect, "munmap": sysMunmap, "brk": sysBrk,
	"rt_sigaction": sysSigaction, "rt_sigprocmask": sysSigprocmask, "rt_sigreturn": sysSigreturn, "ioctl": sysIoctl, "pread64": sysPread,
	"pwrite64": sysPwrite, "readv": sysReadv, "writev": sysWritev, "access": sysAccess, "pipe": sysPipe, "select": sysSelect,
	"sched_yield": sysYield, "mremap": sysMremap, "mincore": sysMincore, "madvise": sysMadvise, "dup": sysDup, "dup2": sysDup2,
	"pause": sysPause, "nanosleep": sysNanosleep, "alarm": sysAlarm, "setitimer": sysSetitimer, "getpid": sysGetpid, "socket": sysSocket,
	"clone": sysClone, "exit": sysExit, "wait4": sysWait4, "waitid": sysWaitid, "fork": sysFork, "vfork": sysVfork, "execve": sysExecve, "kill": sysKill, "uname": sysUname, "fcntl": sysFcntl, "ftruncate": sysFtruncate,
	"getcwd": sysGetcwd, "chdir": sysChdir, "rename": sysRename, "mkdir": sysMkdir, "rmdir": sysRmdir, "creat": sysCreat, "unlink": sysUnlink,
	"readlink": sysReadlink, "umask": sysUmask, "chmod": sysChmod, "fchmod": sysFchmod, "fchmodat": sysFchmodat, "gettimeofday": sysGettimeofday, "getrlimit": sysGetrlimit, "getrusage": sysGetrusage,
	"sysinfo": sysSysinfo, "times": sysTimes, "getuid": sysUser, "getgid": sysUser, "geteuid": sysUser, "getegid": sysUser,
	"getppid": sysGetppid, "getpgrp": sysGetpid, "setsid": sysGetpid, "getresuid": sysGetres, "getresgid": sysGetres, "getpgid": sysGetpid,
	"rt_sigpending": sysSigpending, "rt_sigtimedwait": sysSigtimedwait, "rt_sigsuspend": sysSigsuspend, "sigaltstack": sysSigaltstack,
	"statfs": sysStatfs, "fstatfs": sysStatfs, "getpriority": sysGetpriority, "sched_getparam": sysGetparam, "prctl": sysPrctl,
	"arch_prctl": sysArchPrctl, "gettid": sysGettid, "tkill": sysTkill, "time": sysTime, "futex": sysFutex,
	"sched_getaffinity": sysGetaffinity, "getdents64": sysGetdents, "set_tid_address": sysSetTIDAddress, "clock_gettime": sysClockGettime,
	"clock_getres": sysClockGetres, "clock_nanosleep": sysClockNanosleep, "exit_group": sysExitGroup, "tgkill": sysTgkill,
	"openat": sysOpenat, "mkdirat": sysMkdirat, "newfstatat": sysNewfstatat, "unlinkat": sysUnlinkat, "renameat": sysRenameat,
	"readlinkat": sysReadlinkat, "faccessat": sysFaccessat, "pselect6": sysSelect, "ppoll": sysPpoll, "eventfd2": sysEventfd, "dup3": sysDup3,
	"pipe2": sysPipe2, "preadv": sysPreadv, "prlimit64": sysPrlimit, "getcpu": sysGetcpu, "renameat2": sysRenameat, "getrandom": sysGetrandom,
	"statx": sysStatx, "clone3": sysClone3, "faccessat2": sysFaccessat,
	"connect": onSocket(sysConnect), "accept": onSocket(sysAccept), "accept4": onSocket(sysAccept), "bind": onSocket(sysBind), "listen": onSocket(sysListen), "socketpair": sysSocketpair,
	"sendto": onSocket(sysSendto), "recvfrom": onSocket(sysRecvfrom), "sendmsg": onSocket(sysSendmsg), "recvmsg": onSocket(sysRecvmsg), "shutdown": onSocket(sysShutdown),
	"getsockname": onSocket(sysGetsockname), "getpeername": onSocket(sysGetpeername), "getsockopt": onSocket(sysGetsockopt), "setsockopt": onSocket(sysSetsockopt),
	"epoll_create": sysEpollCreate, "epoll_create1": sysEpollCreate, "epoll_ctl": sysEpollCtl, "epoll_wait": sysEpollWait,
	"epoll_pwait": sysEpollWait,
}

// harmless are the system calls that succeed and do nothing: they change what no program can
// see here, or give advice.
var harmless = strings.Fields(`
msync flock fsync fdatasync chown fchown setuid setgid setpgid getgroups utime setpriority
sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min mlock munlock setrlimit
sched_setaffinity fadvise64 fchownat set_robust_list sync_file_range utimensat fallocate membarrier
`)

// byNumber are the system calls by their numbers. One that starts a child makes others, so the
// table cannot be a plain variable.
var byNumber [512]call

func init() {
	for n := range uint64(len(byNumber)) {
		byNumber[n] = calls[abi.CallName(n)]
	}
	for _, name := range harmless {
		for n := range uint64(len(byNumber)) {
			if abi.CallName(n) == name {
				byNumber[n] = sysZero
			}
		}
	}
}
