// A std::shared_ptr that one thread resets while another copies it: the pointer's own
// count is atomic, the pointer is not.
//
// want: fixed
#include <memory>
#include <pthread.h>

struct value {
	int number = 42;
};

static std::shared_ptr<value> shared;

static void *reader(void *arg)
{
	std::shared_ptr<value> mine = shared;

	if (mine && mine->number != 42)
		__builtin_abort();
	return arg;
}

static void *writer(void *arg)
{
	shared.reset();
	return arg;
}

int main()
{
	pthread_t threads[2];

	shared = std::make_shared<value>();
	pthread_create(&threads[0], nullptr, reader, nullptr);
	pthread_create(&threads[1], nullptr, writer, nullptr);
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
	return 0;
}
