/* Two threads take an object out of a variable, and each frees what it has taken. */
#include <pthread.h>
#include <stdlib.h>

static void *volatile object;

static void *take(void *arg)
{
	void *taken = object;
	if (taken != NULL) {
		object = NULL;
		free(taken);
	}
	return arg;
}

int main(void)
{
	pthread_t a, b;
	object = malloc(64);
	pthread_create(&a, NULL, take, NULL);
	pthread_create(&b, NULL, take, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
