/* A bitwise atomic whose result is used begins with a read, which does not wait for the store before it. */
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
	atomic_exchange((_Atomic long *)&m.y, 1);
	m.z = *(volatile long *)&m.x;
	return nothing;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	set_up("A", "B");
	pthread_create(&thread, NULL, other, NULL);
	*(volatile long *)&m.x = 1;
	if (atomic_fetch_or((_Atomic long *)&m.y, 2) == 7)
		m.z = 9;
}
