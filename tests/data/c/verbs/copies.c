/* Copies by the processor go word by word, as the struct is cut. */
#include "two_sides.h"
struct pair { long a, b; };
static struct pair seen, given = { 1, 2 };
RR_PROCESS(A) void AT(void)
{
	RR_EXPORT("seen", &seen);
	set_up("A", "B");
	struct pair got = *(volatile struct pair *)&seen;
	memcpy(&m.x, &got, sizeof got);
	m.z = seen.b;
}
RR_PROCESS(B) void BT(void)
{
	struct pair *far;
	RR_IMPORT(far, "seen");
	set_up("B", "A");
	post(IBV_WR_RDMA_WRITE, 0, &given, far, sizeof given);
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 24);
}
