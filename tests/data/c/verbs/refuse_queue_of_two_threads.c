#include "two_sides.h"
#include <pthread.h>
static void *second(void *argument)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ, .num_sge = 0 }, *bad;
	(void)argument;
	ibv_post_send(qp, &wr, &bad); /* RR812 */
	return NULL;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	pthread_t thread;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ, .num_sge = 0 }, *bad;
	pthread_create(&thread, NULL, second, NULL);
	ibv_post_send(qp, &wr, &bad);
}
