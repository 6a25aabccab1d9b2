/* What an addition in memory makes is known to who computes with it. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	__atomic_fetch_add(&m.x, 2, __ATOMIC_RELAXED);
	m.y = m.x * 10;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->y, 8);
}
