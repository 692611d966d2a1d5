/* An assertion fails whose message is measured: it lies just before memory that was freed,
 * and the C library reads whole vectors, and so beyond its end. That is no use of freed
 * memory. How long the name of the file is, the first argument says: where the message lies
 * depends on it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static char name[101];

static void *fail(void *arg)
{
	__assert_fail("tickets >= 0", name + 100 - *(int *)arg, 13, "seller");
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int length = atoi(argv[1]);

	for (int i = 0; i < 100; i++)
		name[i] = 'x';
	pthread_create(&thread, NULL, fail, &length);
	pthread_join(thread, NULL);
	return 0;
}
