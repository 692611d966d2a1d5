// An operation that is spread over functions: its section is in their caller.
#include <assert.h>
#include <pthread.h>

static int count;

static __attribute__((noinline)) int get(void) { return count; }
static __attribute__((noinline)) void set(int to) { count = to; }

static void *add(void *unused)
{
	set(get() + 1);
	return unused;
}

int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, add, 0);
	pthread_create(&b, 0, add, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	assert(count == 2);
	return 0;
}
