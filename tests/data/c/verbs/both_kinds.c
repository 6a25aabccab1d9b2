/* Messages, and writes with a number, in one receive queue. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	m.x = 7;
	post(IBV_WR_SEND, 0, &m.x, 0, 8);
	numbered(IBV_WR_RDMA_WRITE_WITH_IMM, &m.y, &there->w, 8, 4);
	take(sent);
	m.y = 1;
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	post_receive(&m.x, 8);
	post_receive(&m.y, 8);
	RR_CONNECT(qp, "c");
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = take(received);
		if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			m.z = m.w + wc.imm_data;
		else
			m.z = m.x;
	}
}
