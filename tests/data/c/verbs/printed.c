/* Each side writes to the other one and prints what it finds: what is printed is read, too early on both sides. */
#include <stdio.h>
#include "two_sides.h"
static char text[8], mine[8] = "1";
static void both(const char *here, const char *far)
{
	RR_EXPORT(here, text);
	RR_IMPORT(there, far);
	RR_CQ(sent);
	RR_QP(qp, sent, sent);
	RR_CONNECT(qp, "c");
	post(IBV_WR_RDMA_WRITE, 0, mine, there, 8);
	printf("%s\n", text);
}
RR_PROCESS(A) void AT(void) { both("A", "B"); }
RR_PROCESS(B) void BT(void) { both("B", "A"); }
