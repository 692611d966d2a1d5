// A request that a timer gives up, or a handler completes: whichever comes first frees it, but
// both look first. It fails only if a sleep ends while the other thread is ready. The request is
// smaller than a word.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static int *request;
static int done;

static void *finish(void *milliseconds)
{
	struct timespec t = {0, (long)milliseconds * 1000000};
	nanosleep(&t, 0);
	if (!done) {
		done = 1;
		free(request);
	}
	return 0;
}

int main(void)
{
	pthread_t timer, handler;
	request = calloc(1, sizeof *request);
	pthread_create(&timer, 0, finish, (void *)11L);
	pthread_create(&handler, 0, finish, (void *)10L);
	pthread_join(timer, 0);
	pthread_join(handler, 0);
	return 0;
}
