#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD };
	RR_CQ(sent);
	init.send_cq = init.recv_cq = sent;
	qp = ibv_create_qp(NULL, &init); /* RR814 */
	RR_CONNECT(qp, "c");
}
RR_PROCESS(B) void BT(void)
{
	RR_START();
	m.x = 1;
}
