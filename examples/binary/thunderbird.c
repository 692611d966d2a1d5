/* thunderbird: Mozilla bug 391259, in C.
 *
 * CloseStreams sets the transport to NULL between the check and the use in
 * ProcessCurrentURL. */
#include "rounds.h"

struct transport {
	void (*set_timeout)(struct transport *, int kind, unsigned value);
	unsigned timeouts[2];
};

static void set_timeout(struct transport *t, int kind, unsigned value)
{
	t->timeouts[kind] = value;
}

static struct transport transport = { set_timeout, { 0, 0 } };

static struct imap_protocol {
	struct transport *volatile m_transport;
} protocol = { &transport };

static __attribute__((noinline)) void close_streams(struct imap_protocol *p)
{
	if (p->m_transport)
		p->m_transport = NULL;
}

static __attribute__((noinline)) void process_current_url(struct imap_protocol *p)
{
	if (p->m_transport)
		p->m_transport->set_timeout(p->m_transport, 1, 0xffffffff);
}

static void *closer(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		close_streams(&protocol);
		protocol.m_transport = &transport;
	}
	return arg;
}

static void *processor(void *arg)
{
	for (int i = 0; i < rounds; i++)
		process_current_url(&protocol);
	return arg;
}

int main(int argc, char **argv)
{
	return run(argc, argv, closer, processor);
}
