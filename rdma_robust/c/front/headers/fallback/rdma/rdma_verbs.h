/* Declarations of ours, for where the system has no <rdma/rdma_verbs.h>. */
#ifndef RDMA_ROBUST_RDMA_RDMA_VERBS_H
#define RDMA_ROBUST_RDMA_RDMA_VERBS_H
#include <rdma/rdma_cma.h>
struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *, void *, size_t);
struct ibv_mr *rdma_reg_read(struct rdma_cm_id *, void *, size_t);
struct ibv_mr *rdma_reg_write(struct rdma_cm_id *, void *, size_t);
int rdma_dereg_mr(struct ibv_mr *);
int rdma_post_recv(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *);
int rdma_post_send(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int);
int rdma_post_read(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, uint64_t, uint32_t);
int rdma_post_write(struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, uint64_t, uint32_t);
static inline int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *list, int count)
{
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)context, .sg_list = list, .num_sge = count }, *bad;
	return ibv_post_recv(id->qp, &wr, &bad);
}
static inline int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *list, int count, int flags)
{
	struct ibv_send_wr wr = { .wr_id = (uintptr_t)context, .sg_list = list, .num_sge = count }, *bad;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = flags;
	return ibv_post_send(id->qp, &wr, &bad);
}
static inline int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *list, int count, int flags, uint64_t there, uint32_t key)
{
	struct ibv_send_wr wr = { .wr_id = (uintptr_t)context, .sg_list = list, .num_sge = count }, *bad;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = flags;
	wr.wr.rdma.remote_addr = there;
	wr.wr.rdma.rkey = key;
	return ibv_post_send(id->qp, &wr, &bad);
}
static inline int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *list, int count, int flags, uint64_t there, uint32_t key)
{
	struct ibv_send_wr wr = { .wr_id = (uintptr_t)context, .sg_list = list, .num_sge = count }, *bad;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = flags;
	wr.wr.rdma.remote_addr = there;
	wr.wr.rdma.rkey = key;
	return ibv_post_send(id->qp, &wr, &bad);
}
int rdma_get_send_comp(struct rdma_cm_id *, struct ibv_wc *);
int rdma_get_recv_comp(struct rdma_cm_id *, struct ibv_wc *);
#endif
