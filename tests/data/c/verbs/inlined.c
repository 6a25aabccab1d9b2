/* What is sent inline is taken at the post, however early it is written again. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	m.x = 1;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &m.x, &there->y, 8);
	m.x = 2;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	m.z = m.y;
}
