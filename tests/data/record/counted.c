/* A counter that a card reads is added to at once: the read before the write of one word is recorded too. */
#include "pair.h"

int main(void)
{
	connect_pair(0);
	if (me == 0) {
		box[0] += 5;
		post(IBV_WR_RDMA_WRITE, 0, 4, IBV_SEND_SIGNALED);
		box[0] += 2;
		complete();
	}
	leave();
}
