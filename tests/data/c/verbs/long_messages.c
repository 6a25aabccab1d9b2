/* Messages of several words: a struct sent whole is its fields, and so is the buffer that it lands in. */
#include "two_sides.h"
struct request { long key; int kind, size; };
static struct request out = { 5, 1, 2 }, in;
RR_PROCESS(A) void AT(void)
{
	set_up("A", "B");
	post(IBV_WR_SEND, IBV_SEND_SIGNALED, &out, 0, sizeof out);
	out.size = 9;
	take(sent);
	out.key = 6;
}
RR_PROCESS(B) void BT(void)
{
	queues("B", "A");
	post_receive(&in, sizeof in);
	RR_CONNECT(qp, "c");
	take(received);
	m.x = in.key;
	m.y = in.kind;
	m.z = in.size;
}
