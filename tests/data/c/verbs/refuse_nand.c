#include "two_sides.h"
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	__atomic_fetch_nand(&m.x, 2, 5); /* RR814 */
}
