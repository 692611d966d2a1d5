/* Starts child processes in every way there is, and says "all right" at the end. Each line that
 * it prints before is something that went wrong, or what a child prints. With an argument it
 * does something else: what is not emulated, or a child that threads talk to. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <sys/mman.h>
#include <sys/stat.h>
extern char **environ;
static int wrong;
#define CHECK(x) do { if (!(x)) { printf("line %d: %s (%s)\n", __LINE__, #x, strerror(errno)); wrong = 1; } } while (0)
static volatile int chld;
static void onchld(int s) { chld++; }
static int global = 1;

/* A child that gives back each byte that it gets, and two threads that ask it. The second may
 * read what the first has asked for. */
static int ask[2], answer[2];
static volatile int busy;

static void *asker(void *own)
{
	char c = *(char *)own, got = 0;
	if (busy)
		return NULL;
	busy = 1;
	CHECK(write(ask[1], &c, 1) == 1 && read(answer[0], &got, 1) == 1);
	if (got != c)
		abort();
	busy = 0;
	return NULL;
}

static int threads(void)
{
	pthread_t t[2];
	CHECK(!pipe(ask) && !pipe(answer));
	if (fork() == 0) {
		char c;
		close(ask[1]);
		while (read(ask[0], &c, 1) == 1)
			write(answer[1], &c, 1);
		_exit(0);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, asker, &"ab"[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	close(ask[1]);
	wait(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	int status; char buf[100];
	if (argc > 1 && !strcmp(argv[1], "threads"))
		return threads();
	if (argc > 1 && !strcmp(argv[1], "exec"))
		return execl("/bin/sh", "sh", NULL);
	if (argc > 1 && !strcmp(argv[1], "memory")) {
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		return fork() == 0;
	}
	if (argc > 1) { /* a daemon */
		if (fork() == 0)
			pause();
		return 0;
	}
	/* system */
	CHECK(system("exit 3") == 3 << 8);
	fflush(stdout);
	CHECK(system("echo from the shell; test $((6*7)) = 42") == 0);
	/* popen */
	FILE *f = popen("echo one; echo two", "r");
	CHECK(f && fgets(buf, sizeof buf, f) && !strcmp(buf, "one\n"));
	CHECK(fgets(buf, sizeof buf, f) && !strcmp(buf, "two\n"));
	CHECK(!fgets(buf, sizeof buf, f));
	CHECK(pclose(f) == 0);
	f = popen("sed s/x/y/", "w"); CHECK(f); fputs("xyz\n", f); CHECK(pclose(f) == 0);
	/* fork without exec, and pipes both ways */
	int a[2], b[2]; CHECK(!pipe(a) && !pipe(b));
	signal(SIGCHLD, onchld);
	pid_t pid = fork();
	if (pid == 0) {
		close(a[1]); close(b[0]);
		global = 7;
		int n = read(a[0], buf, sizeof buf);
		write(b[1], buf, n);
		write(b[1], "!", 1);
		_exit(global + 4);
	}
	close(a[0]); close(b[1]);
	CHECK(write(a[1], "hello", 5) == 5);
	int got = 0, n; while ((n = read(b[0], buf + got, sizeof buf - got)) > 0) got += n;
	CHECK(got == 6 && !memcmp(buf, "hello!", 6));
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 11);
	CHECK(global == 1);
	CHECK(chld >= 1);
	CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
	/* a child that is killed */
	pid = fork();
	if (pid == 0) { for (;;) pause(); }
	CHECK(waitpid(pid, &status, WNOHANG) == 0);
	CHECK(!kill(pid, SIGTERM));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	/* one that works for ever and is killed */
	pid = fork();
	if (pid == 0) { for (volatile long i = 0;; i++) ; }
	CHECK(!kill(pid, SIGKILL));
	siginfo_t info; memset(&info, 0, sizeof info);
	CHECK(!waitid(P_PID, pid, &info, WEXITED) && info.si_pid == pid && info.si_code == CLD_KILLED && info.si_status == SIGKILL);
	/* one that sleeps */
	pid = fork(); if (!pid) { sleep(3); _exit(0); }
	CHECK(wait(&status) == pid && status == 0);
	/* fork and exec, of what is not there too */
	pid = fork();
	if (!pid) { execlp("nothing-of-that-name", "x", NULL); _exit(errno == ENOENT ? 5 : 6); }
	CHECK(wait(&status) == pid && WEXITSTATUS(status) == 5);
	pid = fork();
	if (!pid) { setenv("V", "7", 1); execl("/bin/sh", "sh", "-c", "exit $V", NULL); _exit(1); }
	CHECK(wait(&status) == pid && WEXITSTATUS(status) == 7);
	pid = vfork();
	if (!pid) { execl("/bin/true", "true", NULL); _exit(1); }
	CHECK(wait(&status) == pid && status == 0);
	/* posix_spawn with a file of the emulation */
	int fd = open("/tmp/cofferdam-child", O_CREAT | O_RDWR | O_TRUNC, 0600); CHECK(fd >= 0);
	posix_spawn_file_actions_t act; posix_spawn_file_actions_init(&act); posix_spawn_file_actions_adddup2(&act, fd, 1);
	char *echo[] = {"echo", "to the file", NULL};
	CHECK(!posix_spawnp(&pid, "echo", &act, NULL, echo, environ));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(pread(fd, buf, sizeof buf, 0) == 12 && !memcmp(buf, "to the file\n", 12));
	CHECK(posix_spawnp(&pid, "nothing-of-that-name", NULL, NULL, echo, environ) == ENOENT);
	CHECK(system("cat /tmp/cofferdam-child >/dev/null && rm /tmp/cofferdam-child") == 0);
	CHECK(access("/tmp/cofferdam-child", F_OK) == -1);
	/* a script */
	f = fopen("/tmp/cofferdam-script", "w"); fputs("#!/bin/sh -e\nexit $(($1 + 1))\n", f); fclose(f); chmod("/tmp/cofferdam-script", 0755);
	pid = fork(); if (!pid) { execl("/tmp/cofferdam-script", "s", "8", NULL); _exit(99); }
	CHECK(wait(&status) == pid && WEXITSTATUS(status) == 9);
	unlink("/tmp/cofferdam-script");
	if (!wrong) puts("all right");
	return wrong;
}
