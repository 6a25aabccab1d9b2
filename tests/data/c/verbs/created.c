/* Set-up as programs have it: a device, a region, a queue pair that signals everything, unreliable; byte order. */
#include <arpa/inet.h>
#include <stdlib.h>
#include "two_sides.h"
static void make(const char *mine, const char *theirs)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mr = ibv_reg_mr(pd, &m, sizeof m, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC, .sq_sig_all = 1, .cap = { .max_send_wr = 4, .max_recv_wr = 4 }
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .rnr_retry = 7 };
	if (!mr || ibv_fork_init())
		exit(1);
	qp = ibv_create_qp(pd, &init);
	sent = received = cq;
	RR_EXPORT(mine, mr->addr);
	RR_IMPORT(there, theirs);
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_RNR_RETRY);
	m.y = htonl(3);
	RR_CONNECT(qp, "c");
}
RR_PROCESS(A) void AT(void)
{
	make("A", "B");
	m.x = ntohl(m.y);
	post(IBV_WR_RDMA_WRITE, 0, &m.x, &there->x, 8);
	post(IBV_WR_SEND, 0, &m.y, 0, 8);
	take(sent);
	m.x = 1;
}
RR_PROCESS(B) void BT(void)
{
	make("B", "A");
	post_receive(&m.z, 8);
	take(received);
	m.w = m.x;
	m.y = m.z;
}
