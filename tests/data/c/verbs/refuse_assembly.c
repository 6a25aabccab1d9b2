#include "two_sides.h"
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	long before;
	__asm__ volatile("" ::: "memory");
	__asm__ volatile("mfence" ::: "memory");
	__asm__ volatile("lock; xaddq %0, %1" : "=r"(before), "+m"(m.x) : "0"(1)); /* RR814 */
}
