/* Lazy initialisation without a lock: the pointer is there before what it points to is.
 *
 * want: fixed */
#include <pthread.h>
#include <stdlib.h>

struct config {
	int *limits;
	int count;
};

static struct config *volatile config;

static struct config *get(void)
{
	if (config == NULL) {
		struct config *c = malloc(sizeof *c);

		c->limits = NULL;
		config = c;
		c->count = 2;
		c->limits = calloc(2, sizeof(int));
	}
	return config;
}

static void *reader(void *arg)
{
	struct config *c = get();

	c->limits[1]++;
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
