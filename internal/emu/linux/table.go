package linux

import "strings"

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
	"clone": sysClone, "exit": sysExit, "wait4": sysWait, "kill": sysKill, "uname": sysUname, "fcntl": sysFcntl, "ftruncate": sysFtruncate,
	"getcwd": sysGetcwd, "chdir": sysChdir, "rename": sysRename, "mkdir": sysMkdir, "rmdir": sysRmdir, "creat": sysCreat, "unlink": sysUnlink,
	"readlink": sysReadlink, "umask": sysUmask, "gettimeofday": sysGettimeofday, "getrlimit": sysGetrlimit, "getrusage": sysGetrusage,
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
	"connect": sysConnect, "accept": sysAccept, "accept4": sysAccept, "bind": sysBind, "listen": sysListen, "socketpair": sysSocketpair,
	"sendto": sysSendto, "recvfrom": sysRecvfrom, "sendmsg": sysSendmsg, "recvmsg": sysRecvmsg, "shutdown": sysShutdown,
	"getsockname": sysGetsockname, "getpeername": sysGetpeername, "getsockopt": sysGetsockopt, "setsockopt": sysSetsockopt,
	"epoll_create": sysEpollCreate, "epoll_create1": sysEpollCreate, "epoll_ctl": sysEpollCtl, "epoll_wait": sysEpollWait,
	"epoll_pwait": sysEpollWait,
}

// harmless are the system calls that succeed and do nothing: they change what no program can
// see here, or give advice.
var harmless = strings.Fields(`
msync flock fsync fdatasync chmod fchmod chown fchown setuid setgid setpgid getgroups utime setpriority
sched_setscheduler sched_getscheduler sched_get_priority_max sched_get_priority_min mlock munlock setrlimit
sched_setaffinity fadvise64 fchownat fchmodat set_robust_list sync_file_range utimensat fallocate membarrier
`)

// byNumber are the system calls by their numbers.
var byNumber = func() (t [512]call) {
	for n := range uint64(len(t)) {
		t[n] = calls[callName(n)]
	}
	for _, name := range harmless {
		for n := range uint64(len(t)) {
			if callName(n) == name {
				t[n] = sysZero
			}
		}
	}
	return t
}()

// callNames are the names of all system calls up to the last of the old ones, and after
// that of the new ones, whose numbers start at newCalls.
var (
	callNames    = strings.Fields(oldNames)
	newCallNames = strings.Fields(newNames)
)

const newCalls = 424

// callName returns the name of a system call.
func callName(n uint64) string {
	switch {
	case n < uint64(len(callNames)):
		return callNames[n]
	case n >= newCalls && n-newCalls < uint64(len(newCallNames)):
		return newCallNames[n-newCalls]
	}
	return "unknown"
}

const oldNames = `
read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise
shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile socket connect accept
sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt
clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl fcntl
flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink
symlink readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo times ptrace
getuid syslog getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups
setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending
rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib personality ustat statfs fstatfs
sysfs getpriority setpriority sched_setparam sched_getparam sched_setscheduler sched_getscheduler
sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup
modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct settimeofday mount umount2
swapon swapoff reboot sethostname setdomainname iopl ioperm create_module init_module delete_module
get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid readahead
setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr
lremovexattr fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup
io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old
epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create
timer_settime timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime clock_getres
clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy
mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key request_key
keyctl ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat
mknodat fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat
pselect6 ppoll unshare set_robust_list get_robust_list splice tee sync_file_range vmsplice move_pages
utimensat epoll_pwait signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4
signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open
recvmmsg fanotify_init fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs
sendmmsg setns getcpu process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr
renameat2 seccomp getrandom memfd_create kexec_file_load bpf execveat userfaultfd membarrier mlock2
copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq
`

const newNames = `
pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig fsmount
fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr
quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret process_mrelease
futex_waitv set_mempolicy_home_node
`
