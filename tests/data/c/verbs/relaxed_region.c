#include "two_sides.h"
static long loose;
RR_PROCESS(A) void AT(void)
{
	ibv_reg_mr(0, &loose, sizeof loose, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	RR_EXPORT("loose", &loose);
	set_up("A", "B");
	m.z = *(volatile long *)&m.x;
	m.w = *(volatile long *)&loose;
}
RR_PROCESS(B) void BT(void)
{
	long *far;
	RR_IMPORT(far, "loose");
	set_up("B", "A");
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &(long){ 1 }, far, 8);
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &(long){ 1 }, &there->x, 8);
	post(IBV_WR_RDMA_READ, 0, &m.z, &there->z, 16);
}
