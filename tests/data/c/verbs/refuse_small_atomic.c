#include "two_sides.h"
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	struct ibv_sge sge = { (uintptr_t)&m.y, 4, 0 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &sge, .num_sge = 1 }, *bad;
	wr.wr.atomic.remote_addr = (uintptr_t)&there->x;
	ibv_post_send(qp, &wr, &bad); /* RR815 */
}
