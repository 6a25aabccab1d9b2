#include "two_sides.h"
static void again(int count)
{
	if (m.x != count)
		again(count + 1); /* RR816 */
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	again(1);
}
