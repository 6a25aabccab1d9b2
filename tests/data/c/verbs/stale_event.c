/* The second event may be that of a completion which was polled already: the second poll may find nothing. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_context *context = ibv_open_device(ibv_get_device_list(NULL)[0]);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
	struct ibv_wc wc;
	void *about;
	sent = ibv_create_cq(context, 16, NULL, channel, 0);
	RR_EXPORT("A", &m);
	RR_IMPORT(there, "B");
	RR_CQ(received);
	RR_QP(qp, sent, received);
	RR_CONNECT(qp, "c");
	ibv_req_notify_cq(sent, 0);
	m.x = 1;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->x, 8);
	take(sent);
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &m.x, &there->y, 8);
	ibv_req_notify_cq(sent, 0);
	ibv_get_cq_event(channel, &sent, &about);
	if (ibv_poll_cq(sent, 1, &wc) == 0)
		m.x = 3;
	else
		m.x = 2;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
	m.w = m.y;
}
