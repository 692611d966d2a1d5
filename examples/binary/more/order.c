/* An order violation: a thread uses what main has not set yet. No lock orders the two.
 *
 * want: refused */
#include <pthread.h>
#include <stdlib.h>

static int *volatile table;

static void *worker(void *arg)
{
	table[0]++;
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker, NULL);
	table = calloc(4, sizeof(int));
	pthread_join(thread, NULL);
	return 0;
}
