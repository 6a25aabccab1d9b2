#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	m.x = 7;
	post(IBV_WR_SEND, IBV_SEND_SIGNALED, &m.x, 0, 8);
	post(IBV_WR_RDMA_WRITE, 0, &m.y, &there->y, 8);
	post(IBV_WR_SEND, IBV_SEND_INLINE, &(long){ 8 }, 0, 8);
	m.x = 9;
	take(sent);
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	post_receive(&m.x, 8);
	RR_CONNECT(qp, "c");
	post_receive(&m.z, 8);
	take(received);
	m.w = m.x;
	m.y = 1;
	take(received);
	m.w = m.z;
}
