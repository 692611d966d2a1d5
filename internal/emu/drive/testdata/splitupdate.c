/* Two threads add to a counter with one instruction each, which reads, adds and writes: an
 * addition may be lost. */
#include <assert.h>
#include <pthread.h>

static long count;

static void *adder(void *arg)
{
	__asm__ volatile("addq $1, %0" : "+m"(count));
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, adder, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(count == 2);
	return 0;
}
