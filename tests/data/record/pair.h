/* Two processes with a queue pair: keys go over a socket. `me` is 0 or 1, `box` what the other one reaches. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 16
static uint64_t box[WORDS];
static struct ibv_qp *qp;
static struct ibv_cq *cq, *recv_cq;
static struct ibv_mr *mr;
static struct { uint64_t address; uint32_t key, qp; } mine, there;
static int me, line[2];

static void tell(const void *data, size_t size)
{
	if (write(line[me], data, size) != (ssize_t)size)
		exit(3);
}
static void hear(void *data, size_t size)
{
	for (size_t got = 0; got < size;) {
		ssize_t part = read(line[me], (char *)data + got, size - got);
		if (part <= 0)
			exit(4);
		got += (size_t)part;
	}
}
static void meet(void)
{
	char c = 0;
	tell(&c, 1);
	hear(&c, 1);
}
static void post_receive(int into, int words)
{
	struct ibv_sge sge = { (uintptr_t)&box[into], 8u * (unsigned)words, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = words ? 1 : 0 }, *bad;
	ibv_post_recv(qp, &wr, &bad);
}
static void connect_lines(int receives)
{
	struct ibv_context *context = ibv_open_device(ibv_get_device_list(NULL)[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	mr = ibv_reg_mr(pd, box, sizeof box, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	cq = ibv_create_cq(context, 32, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, 32, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = recv_cq, .cap = { 32, 32, 4, 4, 64 }, .qp_type = IBV_QPT_RC };
	qp = ibv_create_qp(pd, &init);
	mine.address = (uintptr_t)box, mine.key = mr->rkey, mine.qp = qp->qp_num;
	tell(&mine, sizeof mine);
	hear(&there, sizeof there);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	for (int i = 0; i < receives; i++)
		post_receive(8 + i, 1);
	attr.qp_state = IBV_QPS_RTR, attr.dest_qp_num = there.qp;
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN);
	attr.qp_state = IBV_QPS_RTS, attr.rnr_retry = 7;
	ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_RNR_RETRY);
	meet();
}
static inline void connect_pair(int receives)
{
	socketpair(AF_UNIX, SOCK_STREAM, 0, line);
	me = fork() == 0;
	connect_lines(receives);
}
static void post_words(enum ibv_wr_opcode opcode, int from, int words, int to, unsigned flags, uint32_t imm)
{
	struct ibv_sge sge = { (uintptr_t)&box[from], 8u * (unsigned)words, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = words ? 1 : 0, .opcode = opcode, .send_flags = flags }, *bad;
	wr.imm_data = htonl(imm);
	wr.wr.rdma.remote_addr = there.address + 8u * (unsigned)to, wr.wr.rdma.rkey = there.key;
	ibv_post_send(qp, &wr, &bad);
}
static inline void post(enum ibv_wr_opcode opcode, int from, int to, unsigned flags) { post_words(opcode, from, 1, to, flags, 0); }
static inline void post_atomic(enum ibv_wr_opcode opcode, int into, int at, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = { (uintptr_t)&box[into], 8, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED }, *bad;
	wr.wr.atomic.remote_addr = there.address + 8u * (unsigned)at, wr.wr.atomic.rkey = there.key;
	wr.wr.atomic.compare_add = compare_add, wr.wr.atomic.swap = swap;
	ibv_post_send(qp, &wr, &bad);
}
static struct ibv_wc complete_one(struct ibv_cq *of)
{
	struct ibv_wc wc;
	while (ibv_poll_cq(of, 1, &wc) == 0)
		;
	return wc;
}
static inline void complete(void) { complete_one(cq); }
static inline uint32_t received(void) { struct ibv_wc wc = complete_one(recv_cq); return wc.wc_flags & IBV_WC_WITH_IMM ? ntohl(wc.imm_data) : 0; }
static inline void leave(void)
{
	meet();
	if (me == 0)
		wait(NULL);
}
