/* A bitwise atomic is a loop of compare-and-swaps; of memory that nobody else reaches it is a number. */
#include "two_sides.h"
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &(long){ 1 }, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	signed char narrow = -1;
	_Atomic long wide = 5;
	set_up("A", "B");
	__atomic_fetch_xor(&narrow, 3, __ATOMIC_RELAXED);
	atomic_fetch_or(&wide, 2);
	m.y = __sync_fetch_and_or(&m.x, 2);
	m.z = narrow + __atomic_and_fetch(&wide, 6, __ATOMIC_SEQ_CST);
}
