#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *shared = ibv_create_srq(NULL, &srq); /* RR814 */
	(void)shared;
}
RR_PROCESS(B) void BT(void)
{
	RR_START();
	m.x = 1;
}
