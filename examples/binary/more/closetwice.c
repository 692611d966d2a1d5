/* Double free: two threads find that a buffer has to be released.
 *
 * want: fixed */
#include <pthread.h>
#include <stdlib.h>

static char *volatile buffer;

static void *closer(void *arg)
{
	if (buffer != NULL) {
		free(buffer);
		buffer = NULL;
	}
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	buffer = malloc(32);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, closer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
