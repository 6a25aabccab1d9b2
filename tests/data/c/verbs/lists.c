#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_sge parts[2] = { { (uintptr_t)&m.z, 8, 0 }, { (uintptr_t)&m.x, 8, 0 } };
	struct ibv_send_wr second = {
		.opcode = IBV_WR_RDMA_READ, .sg_list = parts, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE
	};
	struct ibv_send_wr first = { .next = &second, .opcode = IBV_WR_RDMA_WRITE, .sg_list = parts, .num_sge = 2 }, *bad;
	set_up("A", "B");
	first.wr.rdma.remote_addr = (uintptr_t)&there->x;
	second.wr.rdma.remote_addr = (uintptr_t)&there->w;
	m.x = 1;
	m.z = 2;
	ibv_post_send(qp, &first, &bad);
	m.x = 3;
	take(sent);
	m.z = 4;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	m.w = 5;
	m.z = m.x;
	m.z = m.y;
}
