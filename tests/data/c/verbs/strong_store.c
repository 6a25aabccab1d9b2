/* A sequentially consistent store is seen before what the thread reads behind it, also on processors with store buffers. */
#include "two_sides.h"
RR_HARDWARE("cpu tso");
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	__atomic_store_n(&m.x, 1, __ATOMIC_SEQ_CST);
	m.z = m.y;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &(long){ 1 }, &there->y, 8);
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
