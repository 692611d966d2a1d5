/* A counter that two threads increment: an increment is lost, which the end shows.
 *
 * want: fixed */
#include <assert.h>
#include <pthread.h>

static volatile long count;

static void *increment(void *arg)
{
	for (int i = 0; i < 3; i++)
		count++;
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, increment, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(count == 6);
	return 0;
}
