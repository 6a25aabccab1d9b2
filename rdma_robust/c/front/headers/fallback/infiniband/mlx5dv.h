/* What mlx5dv says of the order of a queue pair, for where its headers are not installed. Numbers are those of rdma-core. */
#ifndef RDMA_ROBUST_MLX5DV_H
#define RDMA_ROBUST_MLX5DV_H
#include <infiniband/verbs.h>
enum mlx5dv_qp_init_attr_mask {
	MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS = 1 << 0, MLX5DV_QP_INIT_ATTR_MASK_DC = 1 << 1,
	MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS = 1 << 2
};
enum mlx5dv_qp_create_flags {
	MLX5DV_QP_CREATE_TUNNEL_OFFLOADS = 1 << 0, MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE = 1 << 3,
	MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE = 1 << 4, MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE = 1 << 5,
	MLX5DV_QP_CREATE_SIG_PIPELINING = 1 << 6, MLX5DV_QP_CREATE_OOO_DP = 1 << 7
};
struct mlx5dv_qp_init_attr { uint64_t comp_mask; uint32_t create_flags; uint64_t dc[2]; uint64_t send_ops_flags; };
struct ibv_qp *mlx5dv_create_qp(
	struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, struct mlx5dv_qp_init_attr *mlx5_attr
);
#endif
