/* A reader uses a list node that another thread has freed meanwhile. */
#include <pthread.h>
#include <stdlib.h>

struct node { long value[4]; };
static struct node *volatile head;
static volatile long sum;

static void *reader(void *arg)
{
	struct node *n = head;
	if (n != NULL)
		sum += n->value[1];
	return arg;
}

static void *remover(void *arg)
{
	struct node *n = head;
	head = NULL;
	free(n);
	return arg;
}

int main(void)
{
	pthread_t a, b;
	head = calloc(1, sizeof(struct node));
	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, remover, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
