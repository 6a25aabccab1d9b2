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
int rdma_get_send_comp(struct rdma_cm_id *, struct ibv_wc *);
int rdma_get_recv_comp(struct rdma_cm_id *, struct ibv_wc *);
#endif
