/* An order violation at the end: main frees what a thread still needs, because it does not
 * wait for it.
 *
 * want: refused */
#include <pthread.h>
#include <stdlib.h>

static int *volatile table;

static void *worker(void *arg)
{
	for (int i = 0; i < 3; i++)
		table[i]++;
	return arg;
}

int main(void)
{
	pthread_t thread;

	table = calloc(4, sizeof(int));
	pthread_create(&thread, NULL, worker, NULL);
	free(table);
	table = NULL;
	pthread_join(thread, NULL);
	return 0;
}
