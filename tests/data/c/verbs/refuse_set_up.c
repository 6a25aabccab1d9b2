#include "two_sides.h"
int either(void);
RR_ANY(AT, way);
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	int way = 0;
	queues("A", "B");
	if (way)
		m.x = 1;
	RR_CONNECT(qp, "c"); /* RR844 */
}
