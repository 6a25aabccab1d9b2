#include "two_sides.h"
#include <pthread.h>
static void *second(void *argument)
{
	struct ibv_wc wc;
	(void)argument;
	ibv_poll_cq(received, 1, &wc); /* RR818 */
	return NULL;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	struct ibv_wc wc;
	queues("A", "B");
	post_receive(&m.y, 8);
	RR_CONNECT(qp, "c");
	pthread_create(&thread, NULL, second, NULL);
	ibv_poll_cq(received, 1, &wc);
}
