/* A queue with a lock and a condition variable, and nothing wrong with it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct item { struct item *next; int value; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct item *items;
static int sum, done;

static void *producer(void *arg)
{
	for (int i = 1; i <= 3; i++) {
		struct item *it = malloc(sizeof *it);
		it->value = i;
		pthread_mutex_lock(&lock);
		it->next = items;
		items = it;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void *consumer(void *arg)
{
	while (done < 6) {
		pthread_mutex_lock(&lock);
		while (items == NULL)
			pthread_cond_wait(&filled, &lock);
		struct item *it = items;
		items = it->next;
		sum += it->value;
		done++;
		pthread_mutex_unlock(&lock);
		free(it);
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];
	pthread_create(&t[0], NULL, producer, NULL);
	pthread_create(&t[1], NULL, producer, NULL);
	pthread_create(&t[2], NULL, consumer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert(sum == 12 && items == NULL);
	return 0;
}
