/* What B would say, that nobody else connects, comes of what A is refused for, and is not said. */
#include "two_sides.h"
int configured(void);
RR_PROCESS(A) void AT(void)
{
	queues("A", "B");
	if (configured()) /* RR819 */
		m.x = 1;
	RR_CONNECT(qp, "c");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
