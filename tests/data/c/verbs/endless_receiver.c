/* Whoever receives forever counts no more messages than the other side sends. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	post(IBV_WR_SEND, IBV_SEND_SIGNALED, &m.x, 0, 8);
	post(IBV_WR_SEND, IBV_SEND_SIGNALED, &m.x, 0, 8);
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	post_receive(&m.x, 8);
	post_receive(&m.x, 8);
	RR_CONNECT(qp, "c");
	for (long n = 1;; n++) {
		take(received);
		m.w = n;
		post_receive(&m.x, 8);
	}
}
