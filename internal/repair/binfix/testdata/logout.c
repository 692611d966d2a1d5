// Two threads end a session. What the second would have seen, that the pointer is cleared, is
// not in the run that fails.
#include <pthread.h>
#include <stdlib.h>

static char *session;

static void *logout(void *unused)
{
	if (session) {
		free(session);
		session = 0;
	}
	return unused;
}

int main(void)
{
	pthread_t a, b;
	session = malloc(64);
	pthread_create(&a, 0, logout, 0);
	pthread_create(&b, 0, logout, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return 0;
}
