#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	post(IBV_WR_SEND, 0, &m.x, 0, m.w ? 8 : 16);
	post(IBV_WR_RDMA_READ, 0, &m.w, &there->w, 8);
}
RR_PROCESS(B) void BT(void)
{
	struct ibv_sge sge = { (uintptr_t)&m.x, 16, 0 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	set_up("B", "A");
	m.w = 1;
	ibv_post_recv(qp, &wr, &bad); /* RR847 */
}
