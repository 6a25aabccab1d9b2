/* A send queue with room for two: the first completion must be polled before the third request, and makes room for two, for the
   request before it was not signaled. The last request finds no room. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 2, 1, 1, 1 } };
	m.z = 7;
	ibv_reg_mr(NULL, &m, sizeof m, 0);
	RR_EXPORT("A", &m);
	RR_IMPORT(there, "B");
	RR_CQ(sent);
	attr.send_cq = attr.recv_cq = sent;
	qp = ibv_create_qp(NULL, &attr);
	RR_CONNECT(qp, "c");
	post(IBV_WR_RDMA_WRITE, 0, &m.x, &there->y, 8);
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->y, 8);
	take(sent);
	post(IBV_WR_RDMA_WRITE, 0, &m.x, &there->y, 8);
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->y, 8);
	post(IBV_WR_RDMA_WRITE, 0, &m.z, &there->w, 8);
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	m.x = m.y + m.w;
}
