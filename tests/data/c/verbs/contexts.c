/* All that belongs to a connection in one record: its request and its counters are nobody else's, whoever reaches its buffer. */
#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <stdint.h>
#include <stdlib.h>
struct connection {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	uint64_t buffer[2];
	uint64_t there;
	unsigned long posted, completed;
};
static struct connection connection;
static uint64_t seen;

static void connect_to(struct connection *c)
{
	RR_CQ(c->cq);
	RR_QP(c->qp, c->cq, c->cq);
	RR_CONNECT(c->qp, "c");
}

static int put(struct connection *c, int index, uint64_t value)
{
	struct ibv_send_wr *bad;
	c->buffer[index] = value;
	c->sge.addr = (uintptr_t)&c->buffer[index];
	c->sge.length = sizeof value;
	c->wr.sg_list = &c->sge;
	c->wr.num_sge = 1;
	c->wr.opcode = IBV_WR_RDMA_WRITE;
	c->wr.send_flags = IBV_SEND_SIGNALED;
	c->wr.wr.rdma.remote_addr = c->there + 8 * index;
	c->posted++;
	return ibv_post_send(c->qp, &c->wr, &bad);
}

static void reap(struct connection *c)
{
	while (c->completed < c->posted) {
		int found = ibv_poll_cq(c->cq, 1, &c->wc);
		if (found < 0 || c->wc.status != IBV_WC_SUCCESS)
			exit(1);
		c->completed += found;
	}
}

RR_PROCESS(A) void sender(void)
{
	RR_IMPORT(connection.there, "buffer");
	connect_to(&connection);
	put(&connection, 0, 42);
	put(&connection, 1, 1);
	connection.buffer[0] = 7;
	reap(&connection);
}

RR_PROCESS(B) void receiver(void)
{
	RR_EXPORT("buffer", connection.buffer);
	ibv_reg_mr(NULL, &seen, sizeof seen, 0);
	connect_to(&connection);
	while (((volatile struct connection *)&connection)->buffer[1] != 1)
		;
	seen = connection.buffer[0];
}
