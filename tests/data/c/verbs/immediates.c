#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	m.x = 7;
	numbered(IBV_WR_RDMA_WRITE_WITH_IMM, &m.x, &there->x, 8, 4);
	numbered(IBV_WR_SEND_WITH_IMM, 0, 0, 0, 5);
	take(sent);
	m.x = 8;
	take(sent);
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	post_receive(0, 0);
	post_receive(0, 0);
	RR_CONNECT(qp, "c");
	m.z = take(received).imm_data;
	m.w = m.x;
	m.y = take(received).imm_data + 1;
	m.x = 1;
}
