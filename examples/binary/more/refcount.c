/* A count of references that is not atomic: two threads drop the last two, and both or
 * neither free the object.
 *
 * want: fixed */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct object {
	volatile int references;
	int value;
};

static struct object *shared;

static void drop(struct object *o)
{
	o->references--;
	if (o->references == 0) {
		o->value = -1;
		free(o);
	}
}

static void *user(void *arg)
{
	struct object *o = arg;

	assert(o->value == 42);
	drop(o);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	shared = malloc(sizeof *shared);
	shared->references = 2;
	shared->value = 42;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, user, shared);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
