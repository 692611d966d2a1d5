/* A value of 16 bytes that is written and read in halves.
 *
 * want: fixed */
#include <assert.h>
#include <pthread.h>

static volatile struct {
	long low, high;
} number;

static void *writer(void *arg)
{
	for (long i = 1; i < 4; i++) {
		number.low = i;
		number.high = -i;
	}
	return arg;
}

static void *reader(void *arg)
{
	for (int i = 0; i < 3; i++) {
		long low = number.low, high = number.high;

		assert(low + high == 0);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
