/* Texts that cards move: made, measured, compared and printed, which reads what others may write. */
#include <stdio.h>
#include "two_sides.h"
static struct { char text[4]; uint32_t is_there; } in, out;
static struct { uint64_t length, is_equal; } seen;
RR_PROCESS(A) void AT(void)
{
	RR_IMPORT(there, "in");
	RR_CQ(sent);
	RR_QP(qp, sent, sent);
	RR_CONNECT(qp, "c");
	snprintf(out.text, sizeof out.text, "%c%dde", 'b', 1);
	out.is_there = 1;
	post(IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, out.text, there, sizeof out);
	strcpy(out.text, "no"); /* the card may read it only now */
}
RR_PROCESS(B) void BT(void)
{
	RR_EXPORT("in", &in);
	ibv_reg_mr(NULL, &seen, sizeof seen, 0);
	RR_CQ(sent);
	RR_QP(qp, sent, sent);
	RR_CONNECT(qp, "c");
	while (*(volatile uint32_t *)&in.is_there == 0)
		;
	printf("%d %s\n", 1, in.text);
	seen.length = strlen(in.text);
	seen.is_equal = strcmp("b1d", in.text) == 0;
}
