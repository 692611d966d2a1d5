/* An invariant over two variables: money is neither made nor lost, but an auditor that reads
 * the accounts one after the other may see it on its way.
 *
 * want: fixed */
#include <assert.h>
#include <pthread.h>

static volatile int accounts[2] = { 100, 0 };

static void *teller(void *arg)
{
	for (int i = 0; i < 3; i++) {
		accounts[0] -= 10;
		accounts[1] += 10;
	}
	return arg;
}

static void *auditor(void *arg)
{
	for (int i = 0; i < 2; i++)
		assert(accounts[0] + accounts[1] == 100);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, teller, NULL);
	pthread_create(&threads[1], NULL, auditor, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
