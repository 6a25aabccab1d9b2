#include "two_sides.h"
#include <stdlib.h>
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 8);
}
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	long *memory = malloc(8);
	ibv_reg_mr(NULL, memory, 8, 0);
	memory = realloc(memory, 16); /* RR814 */
}
