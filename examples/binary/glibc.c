/* glibc: the kernel of bug 2644 of the C library.
 *
 * A function pointer that is initialised when it is first used. The compiler had turned
 * two functions into the one below, which trusts done_init although the pointer that it
 * loaded before is still NULL. A barrier begins and ends each round. */
#include "rounds.h"

static pthread_barrier_t barrier;
static volatile int done_init;
static int calls;

static void unwind(void)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void (*volatile forcedunwind)(void);

static __attribute__((noinline)) void forced_unwind(void)
{
	void (*function)(void) = forcedunwind;

	if (function == NULL && !done_init) {
		forcedunwind = function = unwind;
		done_init = 1;
	}
	function();
}

static void *worker(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_barrier_wait(&barrier);
		forced_unwind();
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			done_init = 0;
			forcedunwind = NULL;
		}
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_barrier_init(&barrier, NULL, 2);
	return run(argc, argv, worker, worker);
}
