#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	set_up("A", "B");
	ibv_post_send(qp, &wr, &bad); /* RR812 */
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	RR_START();
	m.x = 1;
}
