/* Uses what the emulated kernel offers, and says "all right" at the end. Each line that it
 * prints before is something that went wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <dirent.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sched.h>

static int wrong;
#define CHECK(x) do { if (!(x)) { printf("line %d: %s (%s)\n", __LINE__, #x, strerror(errno)); wrong = 1; } } while (0)

static volatile int signalled;
static sigjmp_buf back;

static void handler(int sig, siginfo_t *info, void *context)
{
	double d = 1.5;
	signalled = sig;
	if (sig == SIGSEGV) {
		CHECK(info->si_addr == (void *)16);
		siglongjmp(back, 1);
	}
	signalled += d > 2;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int turns, total;
static __thread int own = 7;
static int ends[2];

static void *worker(void *arg)
{
	long n = (long)arg;
	char byte = (char)n;

	own += n;
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
	}
	pthread_mutex_lock(&mutex);
	turns++;
	pthread_cond_broadcast(&cond);
	while (turns < 4)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	sem_post(&semaphore);
	CHECK(write(ends[1], &byte, 1) == 1);
	return (void *)(long)own;
}

static void threads(void)
{
	pthread_t t[4];
	void *result;
	long sum = 0;

	CHECK(pipe(ends) == 0);
	sem_init(&semaphore, 0, 0);
	for (long i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, worker, (void *)i) == 0);
	for (int i = 0; i < 4; i++) {
		char byte;
		CHECK(read(ends[0], &byte, 1) == 1);
		sem_wait(&semaphore);
	}
	for (int i = 0; i < 4; i++) {
		CHECK(pthread_join(t[i], &result) == 0);
		sum += (long)result;
	}
	CHECK(sum == 4 * 7 + 6 && total == 200 && own == 7);

	struct timespec soon;
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 5;
	pthread_mutex_lock(&mutex);
	CHECK(pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

static void signals(void)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	double before = 2.25;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	raise(SIGUSR1);
	CHECK(signalled == SIGUSR1 && before == 2.25);
	if (!sigsetjmp(back, 1))
		*(volatile int *)16 = 1;
	CHECK(signalled == SIGSEGV);
	alarm(3);
	pause();
	CHECK(signalled == SIGALRM);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR2);
	int got;
	CHECK(sigwait(&set, &got) == 0 && got == SIGUSR2);
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
}

static void files(void)
{
	char buffer[64];
	struct stat st;
	int fd = open("/tmp/cofferdam-services", O_CREAT | O_RDWR | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, "hello world", 11) == 11);
	CHECK(pwrite(fd, "J", 1, 0) == 1 && lseek(fd, 0, SEEK_SET) == 0);
	CHECK(read(fd, buffer, sizeof buffer) == 11 && memcmp(buffer, "Jello", 5) == 0);
	CHECK(fstat(fd, &st) == 0 && st.st_size == 11 && S_ISREG(st.st_mode));
	CHECK(ftruncate(fd, 5) == 0 && stat("/tmp/cofferdam-services", &st) == 0 && st.st_size == 5);
	CHECK(dup2(fd, 20) == 20 && close(fd) == 0 && lseek(20, 0, SEEK_END) == 5);
	CHECK(rename("/tmp/cofferdam-services", "/tmp/cofferdam-renamed") == 0);
	CHECK(access("/tmp/cofferdam-services", F_OK) == -1 && errno == ENOENT);
	int seen = 0;
	DIR *dir = opendir("/tmp");
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		seen += strcmp(e->d_name, "cofferdam-renamed") == 0;
	closedir(dir);
	CHECK(seen == 1);
	CHECK(unlink("/tmp/cofferdam-renamed") == 0 && open("/tmp/cofferdam-renamed", O_RDONLY) == -1);
	CHECK(mkdir("/tmp/cofferdam-dir", 0700) == 0 && rmdir("/tmp/cofferdam-dir") == 0);
	CHECK(getcwd(buffer, sizeof buffer) != NULL && chdir("/") == 0);
	CHECK(readlink("/proc/self/exe", buffer, sizeof buffer) > 0);
	fd = open("/dev/urandom", O_RDONLY);
	CHECK(read(fd, buffer, 16) == 16);
	CHECK(socket(99, 1, 0) == -1);
}

static void waits(void)
{
	struct timespec start, end, second = { 1, 500000000 };
	struct pollfd fds = { 0, POLLIN, 0 };
	int pair[2];
	char c;

	clock_gettime(CLOCK_MONOTONIC, &start);
	nanosleep(&second, NULL);
	clock_nanosleep(CLOCK_REALTIME, 0, &second, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK(end.tv_sec - start.tv_sec >= 3 && end.tv_sec - start.tv_sec < 5);
	CHECK(pipe2(pair, O_NONBLOCK) == 0 && read(pair[0], &c, 1) == -1 && errno == EAGAIN);
	fds.fd = pair[0];
	CHECK(poll(&fds, 1, 100) == 0);
	CHECK(write(pair[1], "x", 1) == 1 && poll(&fds, 1, -1) == 1 && fds.revents == POLLIN);
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	struct timeval tv = { 1, 0 };
	CHECK(select(pair[0] + 1, &set, NULL, NULL, &tv) == 1 && FD_ISSET(pair[0], &set));
}

static void memory(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	strcpy(p, "kept");
	p = mremap(p, 8192, 1 << 20, MREMAP_MAYMOVE);
	CHECK(p != MAP_FAILED && strcmp(p, "kept") == 0 && p[1 << 19] == 0);
	CHECK(mprotect(p, 4096, PROT_READ) == 0 && munmap(p, 1 << 20) == 0);
	for (int i = 1; i < 200; i++) {
		void *q = malloc(i * 1000);
		memset(q, i, i * 1000);
		free(q);
	}
	long double x = 1.0L / 3;
	char text[64];
	snprintf(text, sizeof text, "%.20Lf %g %d", x, 6.02e23, -5);
	CHECK(strcmp(text, "0.33333333333333333334 6.02e+23 -5") == 0);
	CHECK(strtod("1e-310", NULL) > 0 && strtold("0.1", NULL) != 0.1);
}

static char alternative[16384];
static volatile int on_alternative;

static void notice(int sig)
{
	char here;
	on_alternative = &here >= alternative && &here < alternative + sizeof alternative;
	signalled = sig;
}

static void *sleeper(void *arg)
{
	struct timespec long_time = { 1000, 0 };
	nanosleep(&long_time, NULL);
	return arg;
}

static void *late_writer(void *arg)
{
	struct timespec later = { 3, 0 };
	nanosleep(&later, NULL);
	return write(*(int *)arg, "x", 1) == 1 ? arg : NULL;
}

static void more_signals(void)
{
	stack_t stack = { .ss_sp = alternative, .ss_size = sizeof alternative }, old;
	struct sigaction action = { .sa_handler = notice, .sa_flags = SA_ONSTACK | SA_RESETHAND };
	struct itimerval timer = { .it_value = { 2, 0 } };
	sigset_t set, pending;
	pthread_t t;
	void *result;

	CHECK(sigaltstack(&stack, NULL) == 0 && sigaltstack(NULL, &old) == 0 && old.ss_size == sizeof alternative);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	CHECK(signalled == SIGUSR1 && on_alternative);
	action.sa_flags = 0;
	sigaction(SIGALRM, &action, NULL);
	CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
	sigemptyset(&set);
	sigsuspend(&set);
	CHECK(signalled == SIGALRM);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR2);
	CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR2));
	struct timespec soon = { 1, 0 };
	CHECK(sigtimedwait(&set, NULL, &soon) == SIGUSR2);
	CHECK(sigtimedwait(&set, NULL, &soon) == -1 && errno == EAGAIN);
	int pair[2];
	char byte = 0;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	CHECK(pipe(pair) == 0 && pthread_create(&t, NULL, late_writer, &pair[1]) == 0 && alarm(1) == 0);
	CHECK(read(pair[0], &byte, 1) == 1 && byte == 'x' && pthread_join(t, NULL) == 0);
	CHECK(pthread_create(&t, NULL, sleeper, NULL) == 0 && pthread_cancel(t) == 0);
	CHECK(pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
}

static void information(void)
{
	struct utsname name;
	struct rusage usage;
	struct sysinfo info;
	struct rlimit limit;
	struct timeval tv;
	struct tms tms;
	struct statfs fs;
	struct statx stx;
	cpu_set_t cpus;
	unsigned cpu;

	CHECK(uname(&name) == 0 && strcmp(name.machine, "x86_64") == 0);
	CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && sysinfo(&info) == 0 && info.totalram > 0);
	CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == 8 << 20);
	CHECK(gettimeofday(&tv, NULL) == 0 && time(NULL) == tv.tv_sec && times(&tms) != (clock_t)-1);
	CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 4 && getcpu(&cpu, NULL) == 0);
	CHECK(getuid() == geteuid() && getppid() == 1 && getpgrp() == getpid() && gettid() == getpid());
	CHECK(umask(077) == 022 && umask(022) == 077);
	CHECK(statfs("/", &fs) == 0 && statx(AT_FDCWD, "/", 0, STATX_ALL, &stx) == 0 && S_ISDIR(stx.stx_mode));
	CHECK(sched_yield() == 0 && sysconf(_SC_NPROCESSORS_ONLN) == 4);
}

static void more_files(void)
{
	char a[4] = "", b[8] = "";
	struct iovec two[2] = { { a, 3 }, { b, 7 } };
	uint64_t count = 5;
	int left = 0, pair[2];
	int fd = open("/tmp/cofferdam-more", O_CREAT | O_RDWR | O_EXCL | O_APPEND, 0600);

	CHECK(fd >= 0 && writev(fd, (struct iovec[]){ { "abc", 3 }, { "defghij", 7 } }, 2) == 10);
	CHECK(preadv(fd, two, 2, 0) == 10 && strcmp(a, "abc") == 0 && strcmp(b, "defghij") == 0);
	CHECK(pread(fd, a, 3, 7) == 3 && strcmp(a, "hij") == 0 && pread(fd, a, 3, 100) == 0);
	CHECK(lseek(fd, 0, SEEK_SET) == 0 && readv(fd, two, 2) == 10 && lseek(fd, -1, SEEK_SET) == -1);
	CHECK(open("/tmp/cofferdam-more", O_CREAT | O_EXCL | O_RDWR, 0600) == -1 && errno == EEXIST);
	CHECK(open("/tmp/cofferdam-more/x", O_RDONLY) == -1 && open("/tmp", O_RDWR) == -1 && errno == EISDIR);
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED && p[0] == 'a' && (p[0] = 'z') && msync(p, 4096, MS_SYNC) == 0);
	CHECK(mkdir("/tmp/cofferdam-dir", 0700) == 0 && mkdir("/tmp/cofferdam-dir", 0700) == -1);
	CHECK(rename("/tmp/cofferdam-more", "/tmp/cofferdam-dir/more") == 0 && rmdir("/tmp/cofferdam-dir") == -1 && errno == ENOTEMPTY);
	CHECK(unlink("/tmp/cofferdam-dir") == -1 && unlink("/tmp/cofferdam-dir/more") == 0 && rmdir("/tmp/cofferdam-dir") == 0);
	CHECK(fcntl(fd, F_GETFL) & O_APPEND && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	CHECK(fcntl(fd, F_DUPFD, 30) == 30 && dup3(fd, 31, O_CLOEXEC) == 31 && close(31) == 0 && close(31) == -1);
	int ev = eventfd(0, EFD_NONBLOCK);
	CHECK(read(ev, &count, 8) == -1 && errno == EAGAIN && write(ev, &count, 8) == 8 && read(ev, &count, 8) == 8 && count == 5);
	CHECK(pipe(pair) == 0 && write(pair[1], "abc", 3) == 3 && ioctl(pair[0], FIONREAD, &left) == 0 && left == 3);
	CHECK(isatty(0) == 0 && close(pair[1]) == 0 && read(pair[0], b, 8) == 3 && read(pair[0], b, 8) == 0);
	CHECK(write(open("/dev/null", O_WRONLY), "x", 1) == 1 && read(open("/dev/zero", O_RDONLY), b, 8) == 8 && b[0] == 0);
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL && fgets(b, sizeof b, maps) != NULL && fclose(maps) == 0);
}

int main(int argc, char **argv)
{
	char line[64] = "";

	CHECK(argc == 2 && strcmp(argv[1], "argument") == 0);
	CHECK(fgets(line, sizeof line, stdin) != NULL && strcmp(line, "a line\n") == 0);
	CHECK(getenv("VARIABLE") != NULL && strcmp(getenv("VARIABLE"), "value") == 0);
	threads();
	signals();
	files();
	waits();
	memory();
	more_signals();
	information();
	more_files();
	if (!wrong)
		puts("all right");
	return wrong ? 1 : 3;
}
