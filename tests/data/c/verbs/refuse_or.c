#include "two_sides.h"
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	__sync_fetch_and_or(&m.x, 2); /* RR814 */
}
