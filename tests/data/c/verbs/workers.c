/* Threads with a record each, in one array: a record is of its thread, and of who made that thread, before. */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma_robust.h>
#include <stdint.h>
#include <stdlib.h>
struct worker {
	pthread_t thread;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	uint64_t there, staging, polls;
	int number;
};
static struct { pthread_barrier_t ready, done; } gates;
static struct worker workers[2];
static uint64_t box[2], failed;

static void *work(void *argument)
{
	struct worker *self = argument;
	struct ibv_sge sge = { .addr = (uintptr_t)&self->staging, .length = 8 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_wc wc;
	wr.wr.rdma.remote_addr = self->there + 8 * self->number;
	pthread_barrier_wait(&gates.ready);
	self->staging = 10 + self->number;
	if (ibv_post_send(self->qp, &wr, &bad))
		return self;
	while (ibv_poll_cq(self->cq, 1, &wc) == 0)
		self->polls = self->polls < 2 ? self->polls + 1 : 0;
	pthread_barrier_wait(&gates.done);
	return NULL;
}

RR_PROCESS(A) void starter(void)
{
	static const char *const names[] = { "c0", "c1" };
	pthread_barrier_init(&gates.ready, NULL, 2);
	pthread_barrier_init(&gates.done, NULL, 3);
	ibv_reg_mr(NULL, &failed, sizeof failed, 0);
	for (int i = 0; i < 2; i++) {
		struct worker *each = &workers[i];
		RR_IMPORT(each->there, "box");
		RR_CQ(each->cq);
		RR_QP(each->qp, each->cq, each->cq);
		RR_CONNECT(each->qp, names[i]);
	}
	for (int i = 0; i < 2; i++) {
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(1);
	}
	pthread_barrier_wait(&gates.done);
	for (int i = 0; i < 2; i++) {
		void *result;
		pthread_join(workers[i].thread, &result);
		if (result != NULL)
			exit(1);
		failed += result != NULL;
	}
	workers[0].staging = 0;
}

RR_PROCESS(B) void memory(void)
{
	struct ibv_cq *cq;
	struct ibv_qp *first, *second;
	RR_EXPORT("box", box);
	RR_CQ(cq);
	RR_QP(first, cq, cq);
	RR_QP(second, cq, cq);
	RR_CONNECT(first, "c0");
	RR_CONNECT(second, "c1");
}
