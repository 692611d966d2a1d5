/* toctou: time of check, time of use.
 *
 * One thread increments a counter, another loads it twice and asserts that nothing
 * happened in between. */
#include "rounds.h"

static volatile int counter;

static void *increment(void *arg)
{
	for (int i = 0; i < rounds; i++)
		counter++;
	return arg;
}

static void *check(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		int first = counter;
		assert(first == counter);
	}
	return arg;
}

int main(int argc, char **argv)
{
	return run(argc, argv, increment, check);
}
