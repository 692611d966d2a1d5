/* A correct program: a text is measured that ends just before memory which was freed. The C
 * library reads whole vectors, and so beyond the end. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *measure(void *arg)
{
	char *text = malloc(200), *after = malloc(300);

	memset(text, 'x', 199);
	text[199] = 0;
	free(after);
	return (void *)strlen(text + *(volatile int *)arg);
}

int main(void)
{
	pthread_t threads[2];
	int from = 1;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, measure, &from);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
