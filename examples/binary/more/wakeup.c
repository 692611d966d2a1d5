/* A condition variable that is waited for without a loop: another consumer may have taken
 * what the signal was for.
 *
 * want: refused */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int items;

static void *consumer(void *arg)
{
	pthread_mutex_lock(&mutex);
	if (items == 0)
		pthread_cond_wait(&ready, &mutex);
	assert(items > 0);
	items--;
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *producer(void *arg)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&mutex);
		items++;
		pthread_cond_broadcast(&ready);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, consumer, NULL);
	pthread_create(&threads[1], NULL, consumer, NULL);
	pthread_create(&threads[2], NULL, producer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
