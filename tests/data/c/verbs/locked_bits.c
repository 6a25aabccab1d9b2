/* A bitwise atomic whose result is dropped is one locked operation, which reads nothing before: each thread sets a bit of its own. */
#include "two_sides.h"
#include <pthread.h>
RR_HARDWARE("cpu tso");
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->w, 8);
}
static void *other(void *nothing)
{
	__sync_or_and_fetch(&m.y, 1);
	m.z = *(volatile long *)&m.x;
	return nothing;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	set_up("A", "B");
	pthread_create(&thread, NULL, other, NULL);
	*(volatile long *)&m.x = 1;
	atomic_fetch_or((_Atomic long *)&m.y, 2);
}
