/* librdmacm as its examples use it: events answer calls, and identifiers have queue pairs. */
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma_robust.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static struct message { uint64_t address, value; } outgoing, incoming;
static uint64_t box = 3;
static struct rdma_event_channel *channel;

static struct rdma_cm_event *expect(enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;
	if (rdma_get_cm_event(channel, &event) || event->event != kind || event->status)
		exit(1);
	rdma_ack_cm_event(event);
	return event;
}

static void give_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attributes = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	attributes.send_cq = attributes.recv_cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	if (rdma_create_qp(id, id->pd, &attributes))
		exit(1);
}

static struct ibv_wc take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	if (wc.status != IBV_WC_SUCCESS)
		exit(1);
	return wc;
}

RR_PROCESS(A) void client(void)
{
	struct rdma_cm_id *id;
	struct addrinfo *addresses = NULL;
	channel = rdma_create_event_channel();
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		exit(1);
	getaddrinfo("server", "7471", NULL, &addresses);
	rdma_resolve_addr(id, NULL, NULL, 500);
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	rdma_resolve_route(id, 500);
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	struct ibv_mr *mr = rdma_reg_msgs(id, &incoming, sizeof incoming);
	give_queue_pair(id);
	rdma_post_recv(id, NULL, &incoming, sizeof incoming, mr);
	rdma_connect(id, NULL);
	expect(RDMA_CM_EVENT_ESTABLISHED);
	RR_CONNECT(id->qp, "c");
	take(id->recv_cq);
	uint64_t value = incoming.value + 1;
	rdma_post_write(id, NULL, &value, sizeof value, NULL, IBV_SEND_INLINE | IBV_SEND_SIGNALED, incoming.address, 0);
	take(id->send_cq);
	rdma_disconnect(id);
}

RR_PROCESS(B) void server(void)
{
	struct rdma_cm_id *listener, *id;
	struct rdma_conn_param parameters;
	channel = rdma_create_event_channel();
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) || rdma_bind_addr(listener, NULL))
		exit(1);
	rdma_listen(listener, 1);
	id = expect(RDMA_CM_EVENT_CONNECT_REQUEST)->id;
	give_queue_pair(id);
	memset(&parameters, 0, sizeof parameters);
	rdma_accept(id, &parameters);
	expect(RDMA_CM_EVENT_ESTABLISHED);
	RR_CONNECT(id->qp, "c");
	struct ibv_mr *mr = rdma_reg_write(id, &box, sizeof box);
	outgoing.address = (uintptr_t)mr->addr;
	outgoing.value = 6;
	rdma_post_send(id, NULL, &outgoing, sizeof outgoing, NULL, IBV_SEND_SIGNALED);
	take(id->send_cq);
	while (*(volatile uint64_t *)&box != 7)
		;
}
