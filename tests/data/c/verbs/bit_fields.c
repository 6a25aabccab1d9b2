/* Bit-fields beside each other are one word. */
#include "two_sides.h"
union header { struct { unsigned valid : 1; unsigned epoch : 3; unsigned length : 12; }; uint32_t raw; };
static union header h;
RR_PROCESS(A) void AT(void)
{
	union header *far, mine = { .raw = 0 };
	RR_IMPORT(far, "h");
	set_up("A", "B");
	mine.valid = 1;
	mine.epoch = 5;
	mine.length = 100;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, &mine, far, sizeof mine);
}
RR_PROCESS(B) void BT(void)
{
	volatile union header *p = &h;
	RR_EXPORT("h", &h);
	set_up("B", "A");
	while (!p->valid)
		;
	m.x = p->length + p->epoch;
	p->epoch = 2;
	m.y = p->raw;
	post(IBV_WR_RDMA_READ, 0, &m.w, &there->x, 8);
}
