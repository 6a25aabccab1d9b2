/* Requests of librdmacm. */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include "two_sides.h"
static struct rdma_cm_id id;
static void connected(const char *mine, const char *theirs)
{
	queues(mine, theirs);
	id.qp = qp;
	id.send_cq = sent;
	id.recv_cq = received;
}
RR_PROCESS(A) void AT(void)
{
	struct ibv_wc wc;
	connected("A", "B");
	RR_CONNECT(id.qp, "c");
	rdma_post_write(&id, NULL, &m.x, 8, NULL, IBV_SEND_SIGNALED, (uintptr_t)&there->x, 0);
	rdma_post_send(&id, NULL, &m.y, 8, NULL, 0);
	rdma_get_send_comp(&id, &wc);
	m.x = 1;
	rdma_post_read(&id, NULL, &m.z, 8, NULL, 0, (uintptr_t)&there->z, 0);
}
RR_PROCESS(B) void BT(void)
{
	struct ibv_wc wc;
	connected("B", "A");
	rdma_post_recv(&id, NULL, &m.y, 8, NULL);
	RR_CONNECT(id.qp, "c");
	rdma_get_recv_comp(&id, &wc);
	m.z = 1;
	m.w = m.x;
}
