/* publish: a structure is published before it is complete.
 *
 * One thread publishes a structure and initialises it afterwards, then takes both back;
 * another uses what is published. */
#include "rounds.h"

struct object {
	int *volatile value;
};

static int number = 42;
static struct object object;
static struct object *volatile published;

static void *publisher(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		published = &object;
		object.value = &number;
		published = NULL;
		object.value = NULL;
	}
	return arg;
}

static void *consumer(void *arg)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		struct object *p = published;
		if (p != NULL)
			sum += *p->value;
	}
	return sum < 0 ? NULL : arg;
}

int main(int argc, char **argv)
{
	return run(argc, argv, publisher, consumer);
}
