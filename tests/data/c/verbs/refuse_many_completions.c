#include "two_sides.h"
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	for (int i = 0; i < 30; i++) {
		struct ibv_sge sge = { (uintptr_t)&m.y, 8, 0 };
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED
		}, *bad;
		ibv_post_send(qp, &wr, &bad); /* RR817 */
	}
}
