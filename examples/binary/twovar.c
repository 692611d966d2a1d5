/* twovar: two variables that are meant to be the same.
 *
 * One thread sets both to 5 and then both to 7, another asserts that they are equal. */
#include "rounds.h"

static volatile int global1 = 7, global2 = 7;

static void *set(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		global1 = 5;
		global2 = 5;
		global1 = 7;
		global2 = 7;
	}
	return arg;
}

static void *check(void *arg)
{
	for (int i = 0; i < rounds; i++)
		assert(global1 == global2);
	return arg;
}

int main(int argc, char **argv)
{
	return run(argc, argv, set, check);
}
