// Two threads that synchronise in most ways there are. With an argument, they also count
// without any.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int counter, guarded, posted, once, both[2], piped, racy;
static atomic_int updates;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int ends[2];

static void initialise(void) { once = 5; }

static void *work(void *arg) {
	long i = (long)arg;
	pthread_mutex_lock(&mutex);
	guarded++;
	pthread_mutex_unlock(&mutex);
	atomic_fetch_add(&updates, 1);
	pthread_once(&control, initialise);
	both[i] = once;
	pthread_barrier_wait(&barrier);
	int sum = both[1 - i];
	if (racy)
		counter++;
	char c = 1;
	if (i == 0) {
		posted = 1;
		sem_post(&semaphore);
		piped = 1;
		if (write(ends[1], &c, 1) != 1)
			return 0;
	} else {
		sem_wait(&semaphore);
		sum += posted;
		if (read(ends[0], &c, 1) != 1)
			return 0;
		sum += piped;
	}
	return (void *)(long)sum;
}

int main(int argc, char **argv) {
	pthread_t threads[2];
	racy = argc > 1;
	sem_init(&semaphore, 0, 0);
	pthread_barrier_init(&barrier, 0, 2);
	if (pipe(ends) != 0)
		return 1;
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	long sum = 0;
	for (int i = 0; i < 2; i++) {
		void *result;
		pthread_join(threads[i], &result);
		sum += (long)result + both[i];
	}
	return sum + guarded + counter == 0;
}
