// Throws exceptions through frames of every kind: with handlers of several types, with things to
// clean up, with neither, with arguments on the stack, and where none may come through. Prints
// what it comes to.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <unistd.h>

struct Base {
	int code;
	virtual ~Base() {}
};
struct Derived : Base {
	Derived(int c) { code = c; }
};

static int cleaned;
struct Cleans {
	int weight;
	~Cleans() { cleaned += weight; }
};

#define APART __attribute__((noinline, noipa))

APART static void throws(int kind)
{
	switch (kind) {
	case 1:
		throw 1;
	case 2:
		throw Derived(20);
	case 3:
		throw "text";
	}
}

APART static int passes(int kind)
{
	throws(kind);
	return kind;
}

APART static int cleans(int kind)
{
	Cleans a{1};
	int result = passes(kind);
	Cleans b{10};
	throws(kind - 3);
	return result;
}

APART static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	Cleans x{100};
	return cleans(a) + b + c + d + e + f + g + h;
}

APART static int catches(int kind)
{
	try {
		return many(kind, 1, 2, 3, 4, 5, 6, 7);
	} catch (int i) {
		return 1000 + i;
	} catch (const Base &b) {
		return 2000 + b.code;
	}
}

APART static int again(int kind)
{
	try {
		return catches(kind);
	} catch (...) {
		Cleans x{1000};
		try {
			throw;
		} catch (const char *text) {
			return 3000 + text[0];
		}
	}
}

APART static int none(int kind) noexcept
{
	Cleans x{10000};
	return passes(kind);
}

static void *thread(void *)
{
	for (int kind = 0; kind < 7; kind++) {
		cleaned = 0;
		int result = again(kind);
		printf("%d: %d, %d\n", kind, result, cleaned);
	}
	return NULL;
}

int main()
{
	pthread_t other;
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	printf("%d\n", none(0));
	fflush(stdout);
	std::set_terminate([] { puts("terminated"); fflush(stdout); _exit(4); });
	none(2);
	return 0;
}
