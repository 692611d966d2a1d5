// Sockets by which a process talks to itself, and sets of files that are waited for. With a
// port it connects there, with "listen" and a port it waits for a client.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define check(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, #what); exit(1); } } while (0)

static struct sockaddr_in at(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static void *serve(void *listener)
{
	char b[16];
	int c = accept4(*(int *)listener, 0, 0, SOCK_CLOEXEC);
	check(c >= 0);
	check(recv(c, b, sizeof b, MSG_PEEK) == 4);
	check(recv(c, b, 2, 0) == 2 && recv(c, b + 2, 9, 0) == 2 && !memcmp(b, "ping", 4));
	check(send(c, "pong", 4, 0) == 4);
	check(recv(c, b, sizeof b, 0) == 0); // the client has shut down
	close(c);
	return 0;
}

static void stream(void)
{
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct sockaddr_in a = at(0), b;
	socklen_t size = sizeof a;
	check(setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
	check(bind(l, (void *)&a, size) == 0 && listen(l, 4) == 0);
	check(getsockname(l, (void *)&a, &size) == 0 && a.sin_port != 0);
	pthread_t t;
	pthread_create(&t, 0, serve, &l);
	int c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), kind;
	size = sizeof kind;
	check(getsockopt(c, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_STREAM);
	check(connect(c, (void *)&a, sizeof a) == 0 || errno == EINPROGRESS);
	struct pollfd connected = {c, POLLOUT, 0};
	check(poll(&connected, 1, -1) == 1 && connected.revents == POLLOUT);
	size = sizeof b;
	check(getpeername(c, (void *)&b, &size) == 0 && b.sin_port == a.sin_port);
	char text[8];
	check(read(c, text, 8) == -1 && errno == EAGAIN);
	check(write(c, "ping", 4) == 4);
	struct pollfd p = {c, POLLIN, 0};
	check(poll(&p, 1, -1) == 1 && read(c, text, 8) == 4 && !memcmp(text, "pong", 4));
	check(shutdown(c, SHUT_WR) == 0);
	pthread_join(t, 0);
	check(write(c, "x", 1) == -1 && errno == EPIPE);
	check(read(c, text, 8) == 0);
	close(c), close(l);
	int bad[2];
	check(socketpair(AF_INET, SOCK_STREAM, 0, bad) == -1);
}

static void datagrams(void)
{
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at(7001), from;
	socklen_t size = sizeof from;
	char text[8];
	check(bind(a, (void *)&to, sizeof to) == 0);
	check(sendto(b, "one", 3, 0, (void *)&to, sizeof to) == 3 && sendto(b, "second", 6, 0, (void *)&to, sizeof to) == 6);
	check(recvfrom(a, text, 8, 0, (void *)&from, &size) == 3 && from.sin_port != 0);
	struct iovec v[2] = {{text, 2}, {text + 4, 2}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	check(recvmsg(a, &m, 0) == 4 && m.msg_flags & MSG_TRUNC && !memcmp(text, "se", 2) && !memcmp(text + 4, "co", 2));
	check(sendto(a, "back", 4, 0, (void *)&from, size) == 4 && recv(b, text, 8, 0) == 4);
	close(a), close(b);
}

static void paths(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0cofferdam"};
	int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0);
	check(bind(l, (void *)&a, 12) == 0 && listen(l, 1) == 0);
	check(connect(c, (void *)&a, 12) == 0);
	struct iovec v = {"text", 4};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	check(sendmsg(c, &m, MSG_NOSIGNAL) == 4);
	int s = accept(l, 0, 0);
	char text[8];
	check(s >= 0 && read(s, text, 8) == 4);
	close(c), close(s), close(l);
}

static void *later(void *fd)
{
	usleep(1000);
	check(write(*(int *)fd, "z", 1) == 1);
	return 0;
}

static void sets(void)
{
	int s[2], e = epoll_create1(0);
	char b[4];
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.u64 = 77}, got[2];
	check(epoll_ctl(e, EPOLL_CTL_ADD, s[1], &ev) == 0 && epoll_ctl(e, EPOLL_CTL_ADD, s[1], &ev) == -1 && errno == EEXIST);
	check(epoll_wait(e, got, 2, 0) == 0 && epoll_wait(e, got, 2, 20) == 0);
	check(write(s[0], "ab", 2) == 2);
	check(epoll_wait(e, got, 2, -1) == 1 && got[0].data.u64 == 77 && got[0].events == EPOLLIN);
	check(epoll_wait(e, got, 2, 0) == 0); // told once
	check(write(s[0], "c", 1) == 1 && epoll_wait(e, got, 2, 0) == 1);
	ev.events = EPOLLIN | EPOLLONESHOT;
	check(epoll_ctl(e, EPOLL_CTL_MOD, s[1], &ev) == 0 && epoll_wait(e, got, 2, 0) == 1 && epoll_wait(e, got, 2, 0) == 0);
	ev.events = EPOLLIN | EPOLLRDHUP;
	check(epoll_ctl(e, EPOLL_CTL_MOD, s[1], &ev) == 0 && read(s[1], b, 4) == 3);
	pthread_t t;
	pthread_create(&t, 0, later, &s[0]);
	check(epoll_wait(e, got, 2, 60000) == 1 && read(s[1], b, 4) == 1 && b[0] == 'z');
	pthread_join(t, 0);
	close(s[0]);
	check(epoll_wait(e, got, 2, 0) == 1 && got[0].events & EPOLLRDHUP && read(s[1], b, 4) == 0);
	close(s[1]);
	check(epoll_wait(e, got, 2, 0) == 0);
	close(e);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	char text[16];
	if (argc == 2) {
		struct sockaddr_in a = at(atoi(argv[1]));
		int c = socket(AF_INET, SOCK_STREAM, 0);
		check(connect(c, (void *)&a, sizeof a) == 0 && write(c, "hello", 5) == 5);
		int n = read(c, text, sizeof text);
		printf("%.*s\n", n, text);
		return 0;
	}
	if (argc == 3) {
		struct sockaddr_in a = at(atoi(argv[2]));
		int l = socket(AF_INET, SOCK_STREAM, 0);
		check(bind(l, (void *)&a, sizeof a) == 0 && listen(l, 1) == 0);
		int c = accept(l, 0, 0);
		int n = read(c, text, sizeof text);
		printf("%.*s\n", n, text);
		return 0;
	}
	stream(), datagrams(), paths(), sets();
	puts("all right");
	return 0;
}
