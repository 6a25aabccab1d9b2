/* A block that no processor looks at is moved in pieces of eight bytes. */
#include "two_sides.h"
static char here[24], far_block[24];
RR_PROCESS(A) void AT(void)
{
	RR_EXPORT("block", far_block);
	set_up("A", "B");
	m.x = 1;
}
RR_PROCESS(B) void BT(void)
{
	char *far;
	RR_IMPORT(far, "block");
	set_up("B", "A");
	post(IBV_WR_RDMA_WRITE, 0, here, far, 24);
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
