/* One poll may take two completions, and tells of both. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)&m.x, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_wc wc[2];
	set_up("A", "B");
	wr.wr.rdma.remote_addr = (uintptr_t)&there->x;
	for (wr.wr_id = 3; wr.wr_id < 5; wr.wr_id++)
		ibv_post_send(qp, &wr, &bad);
	if (ibv_poll_cq(sent, 2, wc) == 2)
		m.y = wc[0].wr_id * 10 + wc[1].wr_id;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.y, &there->y, 8);
}
