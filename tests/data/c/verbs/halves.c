/* A record of two numbers is copied as two, although nobody accesses one alone. */
#include "two_sides.h"
static struct halves { int low, high; } from = { 1, 2 }, to;
RR_PROCESS(A) void AT(void)
{
	ibv_reg_mr(NULL, &from, sizeof from, 0);
	ibv_reg_mr(NULL, &to, sizeof to, 0);
	set_up("A", "B");
	to = from;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
