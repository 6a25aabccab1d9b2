/* A fenced write waits for the read before it, and sends what that has fetched. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
	post(IBV_WR_RDMA_WRITE, IBV_SEND_FENCE, &m.x, &there->y, 8);
}
RR_PROCESS(B) void BT(void)
{
	m.x = 5;
	set_up("B", "A");
	m.z = m.y;
}
