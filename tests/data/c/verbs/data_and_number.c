/* A message that carries data and a number; and one word gathered from two places. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	m.x = 7;
	numbered(IBV_WR_SEND_WITH_IMM, &m.x, 0, 8, 4);
	m.x = 8;
	numbered(IBV_WR_SEND_WITH_IMM, &m.y, 0, 8, 5);
}
RR_PROCESS(B) void BT(void)
{
	struct ibv_wc wc;
	queues("B", "A");
	post_receive(&m.x, 8);
	post_receive(&m.y, 8);
	RR_CONNECT(qp, "c");
	wc = take(received);
	m.z = wc.imm_data + wc.byte_len;
	m.w = m.x;
	wc = take(received);
	m.z = wc.opcode == IBV_WC_RECV && wc.wc_flags & IBV_WC_WITH_IMM ? wc.imm_data : 1;
}
