/* A union moves as its largest member; the halves are looked at in a copy. */
#include "two_sides.h"
union word { uint64_t whole; struct { uint32_t low, high; } halves; };
static union word outbox, inbox;
static uint64_t seen;
RR_PROCESS(A) void AT(void)
{
	union word word = { .halves = { 5, 0 } };
	set_up("A", "in");
	outbox = word;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, &outbox, there, sizeof outbox);
	take(sent);
	outbox.whole = 0;
}
RR_PROCESS(B) void BT(void)
{
	union word word;
	ibv_reg_mr(NULL, &seen, sizeof seen, 0);
	RR_EXPORT("in", &inbox);
	RR_CQ(sent);
	RR_CQ(received);
	RR_QP(qp, sent, received);
	RR_CONNECT(qp, "c");
	do
		word.whole = __atomic_load_n(&inbox.whole, __ATOMIC_ACQUIRE);
	while (word.whole == 0);
	seen = word.halves.low + 1;
}
