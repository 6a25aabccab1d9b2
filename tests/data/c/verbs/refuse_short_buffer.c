#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	post(IBV_WR_SEND, 0, &m.x, 0, 16);
}
RR_PROCESS(B) void BT(void)
{
	struct ibv_sge sge = { (uintptr_t)&m.x, 8, 0 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	set_up("B", "A");
	ibv_post_recv(qp, &wr, &bad); /* RR813 */
}
