// A map that one thread erases from under a lock while another looks into it without, by a
// function that throws: the section that would prevent it is one that an exception leaves.
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex mutex;
static std::map<int, int *> table;

static int look(int key)
{
	auto found = table.find(key);
	if (found == table.end())
		throw std::runtime_error("none");
	return *found->second;
}

int main()
{
	int value = 5;
	table[1] = &value;
	std::thread eraser([] {
		std::lock_guard<std::mutex> lock(mutex);
		table.erase(1);
	});
	std::thread reader([] {
		try {
			if (look(1) != 5)
				std::abort();
		} catch (std::exception &) {
		}
	});
	eraser.join();
	reader.join();
	return 0;
}
