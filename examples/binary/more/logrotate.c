/* A log that is closed and opened anew while another thread writes to it.
 *
 * want: fixed */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct log {
	char *volatile buffer;
	volatile int used;
};

static struct log current;

static void append(const char *text)
{
	if (current.buffer != NULL) {
		strcpy(current.buffer + current.used, text);
		current.used += strlen(text);
	}
}

static void *writer(void *arg)
{
	for (int i = 0; i < 3; i++)
		append("line\n");
	return arg;
}

static void *rotator(void *arg)
{
	char *old = current.buffer;

	current.buffer = NULL;
	current.used = 0;
	current.buffer = old;
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	current.buffer = calloc(1, 64);
	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, rotator, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
