/* Use after free: a session is ended while a request uses it.
 *
 * want: fixed */
#include <pthread.h>
#include <stdlib.h>

struct session {
	int requests;
	int open;
};

static struct session *volatile session;

static void *request(void *arg)
{
	if (session != NULL && session->open)
		session->requests++;
	return arg;
}

static void *logout(void *arg)
{
	struct session *s = session;

	session = NULL;
	s->open = 0;
	free(s);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	session = calloc(1, sizeof *session);
	session->open = 1;
	pthread_create(&threads[0], NULL, request, NULL);
	pthread_create(&threads[1], NULL, logout, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
