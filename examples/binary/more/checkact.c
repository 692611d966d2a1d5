/* Check, then act: two threads find the last ticket and both sell it.
 *
 * want: fixed */
#include <assert.h>
#include <pthread.h>

static volatile int tickets = 1;

static void *seller(void *arg)
{
	if (tickets > 0) {
		tickets--;
		assert(tickets >= 0);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, seller, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
