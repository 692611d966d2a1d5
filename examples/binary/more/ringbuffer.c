/* A ring buffer for one writer that two write to: both take the same slot.
 *
 * want: fixed */
#include <assert.h>
#include <pthread.h>

static int slots[8];
static int next;

static void put(int value)
{
	assert(slots[next & 7] == 0);
	slots[next & 7] = value;
	next = next + 1;
}

static void *writer(void *arg)
{
	for (int i = 0; i < 2; i++)
		put(1 + (int)(long)arg);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, writer, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
