/* Two machines with a queue pair each, between them, and short ways to post and poll. */
#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct memory { long x, y, z, w; };
static struct memory m;
static struct memory *there;
static struct ibv_cq *sent, *received;
static struct ibv_qp *qp;

static inline void post(int opcode, int flags, volatile void *from, volatile void *to, int length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = length };
	struct ibv_send_wr wr, *bad;
	memset(&wr, 0, sizeof wr);
	wr.sg_list = &sge;
	wr.num_sge = length != 0;
	wr.opcode = opcode;
	wr.send_flags = flags;
	wr.wr.rdma.remote_addr = (uintptr_t)to;
	ibv_post_send(qp, &wr, &bad);
}

static inline void atomic(int opcode, volatile void *from, volatile void *to, long compare_add, long swap)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 8 };
	struct ibv_send_wr wr, *bad;
	memset(&wr, 0, sizeof wr);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.atomic.remote_addr = (uintptr_t)to;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	ibv_post_send(qp, &wr, &bad);
}

static inline void numbered(int opcode, volatile void *from, volatile void *to, int length, int number)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = length };
	struct ibv_send_wr wr, *bad;
	memset(&wr, 0, sizeof wr);
	wr.sg_list = &sge;
	wr.num_sge = length != 0;
	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.imm_data = number;
	wr.wr.rdma.remote_addr = (uintptr_t)to;
	ibv_post_send(qp, &wr, &bad);
}

static inline void post_receive(volatile void *to, int length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)to, .length = length };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = length != 0 }, *bad;
	ibv_post_recv(qp, &wr, &bad);
}

static inline struct ibv_wc take(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	return wc;
}

static inline void queues(const char *mine, const char *theirs)
{
	ibv_reg_mr(NULL, &m, sizeof m, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	RR_EXPORT(mine, &m);
	RR_IMPORT(there, theirs);
	RR_CQ(sent);
	RR_CQ(received);
	RR_QP(qp, sent, received);
}

static inline void set_up(const char *mine, const char *theirs)
{
	queues(mine, theirs);
	RR_CONNECT(qp, "c");
}
