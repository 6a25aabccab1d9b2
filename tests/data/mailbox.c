/* A mailbox: data, then a flag behind it. Its source is written again before the first put has read it, unless POLLED. */
#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <stdint.h>
static struct { uint64_t data, flag; } box, staging;
static struct ibv_qp *qp; static struct ibv_cq *cq;
static void put(uint64_t *from, uint64_t to, int flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = flags }, *bad;
	wr.wr.rdma.remote_addr = to;
	ibv_post_send(qp, &wr, &bad);
}
RR_PROCESS(A) void sender(void)
{
	char *there;
	RR_IMPORT(there, "box"); RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c");
	staging.data = 42; put(&staging.data, (uintptr_t)there, IBV_SEND_SIGNALED);
#ifdef POLLED
	struct ibv_wc first; while (ibv_poll_cq(cq, 1, &first) == 0) ;
#endif
	staging.data = 7;
	staging.flag = 1; put(&staging.flag, (uintptr_t)there + 8, IBV_SEND_SIGNALED);
	struct ibv_wc wc; while (ibv_poll_cq(cq, 1, &wc) == 0) ;
}
RR_PROCESS(B) void receiver(void)
{
	RR_EXPORT("box", &box); RR_CQ(cq); RR_QP(qp, cq, cq); RR_CONNECT(qp, "c");
	while (((volatile typeof(box) *)&box)->flag == 0) ;
	RR_ASSERT(box.data == 42);
}
