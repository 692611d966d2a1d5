/* What the programs have in common: two threads that go round a number of times, which
 * the first argument says. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int rounds = 5;

static int run(int argc, char **argv, void *(*first)(void *), void *(*second)(void *))
{
	pthread_t threads[2];

	if (argc > 1)
		rounds = atoi(argv[1]);
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
