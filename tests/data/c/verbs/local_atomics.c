#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	RR_HARDWARE("cpu tso");
	set_up("A", "B");
	m.x = __atomic_exchange_n(&m.y, 2, __ATOMIC_SEQ_CST);
	__sync_fetch_and_add(&m.z, 3);
	__sync_fetch_and_sub(&m.z, 1);
	m.w = __sync_bool_compare_and_swap(&m.y, 2, 1);
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_WRITE, 0, &m.x, &there->y, 8);
	post(IBV_WR_RDMA_READ, 0, &m.x, there, 32);
}
