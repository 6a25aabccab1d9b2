#include "two_sides.h"
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	atomic(IBV_WR_ATOMIC_CMP_AND_SWP, &m.x, &there->x, 0, 2);
	atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, &m.y, &there->y, 1, 0);
	take(sent);
	m.z = m.x;
	take(sent);
	m.w = m.y;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, &m.z, &there->w, 1, 0);
	m.x = 1;
	m.w = m.y;
}
