/* A linked list, of which one thread removes and frees elements while another walks.
 *
 * want: fixed */
#include <pthread.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

static struct node *volatile head;

static void *walker(void *arg)
{
	long sum = 0;

	for (struct node *n = head; n != NULL; n = n->next)
		sum += n->value;
	return (void *)sum;
}

static void *remover(void *arg)
{
	struct node *first = head;

	head = first->next;
	free(first);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 3; i++) {
		struct node *n = malloc(sizeof *n);

		n->value = i;
		n->next = head;
		head = n;
	}
	pthread_create(&threads[0], NULL, walker, NULL);
	pthread_create(&threads[1], NULL, remover, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
