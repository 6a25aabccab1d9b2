/* Requests of ibv_wr_start .. ibv_wr_complete. */
#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_qp_ex *more;
	set_up("A", "B");
	more = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(more);
	more->wr_id = 1;
	more->wr_flags = 0;
	ibv_wr_rdma_write(more, 0, (uintptr_t)&there->x);
	ibv_wr_set_sge(more, 0, (uintptr_t)&m.x, 8);
	more->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(more, 0, (uintptr_t)&there->y, 1);
	ibv_wr_set_sge(more, 0, (uintptr_t)&m.y, 8);
	more->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_rdma_write(more, 0, (uintptr_t)&there->z);
	ibv_wr_set_inline_data(more, &m.x, 8);
	ibv_wr_complete(more);
	m.x = 1;
	take(sent);
	m.z = m.y;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	m.x = 2;
	m.w = m.z;
}
