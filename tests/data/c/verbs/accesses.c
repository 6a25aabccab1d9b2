#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	*(volatile long *)&m.x = 1;
	__atomic_store_n(&m.y, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&m.z, m.x, __ATOMIC_RELEASE);
	atomic_thread_fence(memory_order_acquire);
	atomic_thread_fence(memory_order_seq_cst);
	m.w = __atomic_load_n(&m.y, __ATOMIC_ACQUIRE);
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->y, 8);
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &(long){ 3 }, &there->y, 8);
	post(IBV_WR_RDMA_READ, 0, &m.y, &there->x, 8);
	post(IBV_WR_RDMA_READ, 0, &m.z, &there->z, 8);
	post(IBV_WR_RDMA_READ, 0, &m.w, &there->w, 8);
}
