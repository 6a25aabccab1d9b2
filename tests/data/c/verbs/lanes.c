/* Two queue pairs from one thread to one machine, with one completion queue. */
#include "two_sides.h"
static struct ibv_qp *other;
RR_PROCESS(A) void AT(void)
{
	struct ibv_qp *first;
	queues("A", "B");
	RR_QP(other, sent, received);
	RR_CONNECT(qp, "a");
	RR_CONNECT(other, "b");
	m.x = 1;
	m.y = 1;
	first = qp;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->x, 8);
	qp = other;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.y, &there->y, 8);
	m.z = take(sent).qp_num == first->qp_num ? 1 : 2;
	m.x = 2;
}
RR_PROCESS(B) void BT(void)
{
	struct ibv_qp *second;
	queues("B", "A");
	RR_QP(second, sent, received);
	RR_CONNECT(qp, "a");
	RR_CONNECT(second, "b");
	m.z = m.y;
	m.w = m.x;
}
