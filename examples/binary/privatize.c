/* privatize: a structure is taken back while somebody has a pointer to it.
 *
 * Figure 1 of the paper: one thread sets a global pointer to NULL and believes that the
 * variable behind it is its own from then on; another has loaded the pointer before. */
#include "rounds.h"

struct object {
	long head[6];
	int value;
};

static struct object fallback_object, object;
static struct object *volatile fallback = &fallback_object;
static struct object *volatile variable = &object;
static struct object *volatile *volatile global = &variable;

static void *owner(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		variable = &object;
		global = &variable;
		global = NULL;
		variable = NULL;
	}
	return arg;
}

static void *reader(void *arg)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		struct object *volatile *p = global;
		if (p == NULL)
			p = &fallback;
		sum += (*p)->value;
	}
	return sum < 0 ? NULL : arg;
}

int main(int argc, char **argv)
{
	return run(argc, argv, owner, reader);
}
