#include "two_sides.h"
void at_end(void (*function)(void));
static void end(void)
{
	m.x = 1;
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	at_end(end); /* RR816 */
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
