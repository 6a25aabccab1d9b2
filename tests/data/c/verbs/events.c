/* Completions that are waited for by events of a channel: one is there when the event has come. */
#include "two_sides.h"
static struct ibv_comp_channel *channel;
static void make(const char *mine, const char *theirs)
{
	struct ibv_context *context = ibv_open_device(ibv_get_device_list(NULL)[0]);
	channel = ibv_create_comp_channel(context);
	sent = ibv_create_cq(context, 16, NULL, channel, 0);
	ibv_req_notify_cq(sent, 0);
	RR_EXPORT(mine, &m);
	RR_IMPORT(there, theirs);
	ibv_reg_mr(NULL, &m, sizeof m, IBV_ACCESS_REMOTE_WRITE);
	RR_CQ(received);
	RR_QP(qp, sent, received);
	RR_CONNECT(qp, "c");
}
static void wait_for_one(void)
{
	struct ibv_cq *which;
	void *context;
	struct ibv_wc wc;
	ibv_get_cq_event(channel, &which, &context);
	ibv_ack_cq_events(which, 1);
	ibv_req_notify_cq(which, 0);
	ibv_poll_cq(which, 1, &wc);
}
RR_PROCESS(A) void AT(void)
{
	make("A", "B");
	m.x = 1;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->x, 8);
	wait_for_one();
	m.x = 2;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->y, 8);
	wait_for_one();
	m.x = 3;
}
RR_PROCESS(B) void BT(void)
{
	make("B", "A");
	m.z = m.x;
	m.w = m.y;
}
