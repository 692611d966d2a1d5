// What fails stands right behind a call.
#include <pthread.h>
#include <stdlib.h>

static long *volatile shared;

static __attribute__((noinline)) long *get(void) { return shared; }

static void *reader(void *unused)
{
	if (get())
		return (void *)get()[1];
	return unused;
}

static void *writer(void *unused)
{
	shared = 0;
	return unused;
}

int main(void)
{
	static long data[2];
	pthread_t a, b;
	shared = data;
	pthread_create(&a, 0, reader, 0);
	pthread_create(&b, 0, writer, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
