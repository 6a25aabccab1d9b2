/* Messages of several lengths and kinds, always in one order: a header, a body, and a number alone. */
#include <stdlib.h>
#include "two_sides.h"
static struct { uint64_t size; } header;
static struct { uint64_t first, second; } body;
static void receive(void *to, int length, int id)
{
	struct ibv_sge sge = { (uintptr_t)to, length, 0 };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = length != 0 }, *bad;
	ibv_post_recv(qp, &wr, &bad);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	header.size = 2;
	body.first = 5;
	body.second = 6;
	post(IBV_WR_SEND, 0, &header, 0, sizeof header);
	post(IBV_WR_SEND, IBV_SEND_SIGNALED, &body, 0, sizeof body);
	take(sent);
	body.first = 7;
	numbered(IBV_WR_RDMA_WRITE_WITH_IMM, &body.first, &there->z, 8, 9);
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	receive(&header, sizeof header, 1);
	receive(&body, sizeof body, 2);
	RR_CONNECT(qp, "c");
	struct ibv_wc wc = take(received);
	if (wc.byte_len != 8 || wc.wr_id != 1)
		exit(1);
	receive(NULL, 0, 3);
	if (take(received).byte_len != 16)
		exit(1);
	m.x = header.size + body.second;
	wc = take(received);
	m.y = wc.imm_data + m.z;
}
