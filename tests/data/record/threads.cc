// Store buffering between two machines, made of threads that share a lock; -DPOLLED mends it. Templates, lambdas, a vector.
#include "pair.h"
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

template <class T> struct Guarded {
	std::mutex lock;
	std::condition_variable changed;
	T value{};
	void set(T to) { { std::lock_guard<std::mutex> held(lock); value = to; } changed.notify_all(); }
	void await(T what) { std::unique_lock<std::mutex> held(lock); changed.wait(held, [&] { return value == what; }); }
};

int main()
{
	connect_pair(0);
	Guarded<int> ready;
	std::vector<std::thread> threads;
	volatile uint64_t *word = box;
	threads.emplace_back([&] {
		word[0] = 1;
		ready.set(1);
	});
	threads.emplace_back([&] {
		ready.await(1);
		post(IBV_WR_RDMA_WRITE, 0, 4, IBV_SEND_SIGNALED);
#ifdef POLLED
		complete();
#endif
		word[0] = 2;
	});
	for (auto &thread : threads)
		thread.join();
	leave();
}
