/* A message announces what was put; with -DGET the answer is fetched, and read before its completion. */
#include "pair.h"

int main(void)
{
	connect_pair(2);
	if (me == 0) {
		box[0] = 7;
		post(IBV_WR_RDMA_WRITE, 0, 4, 0);
		box[1] = 9;
		post(IBV_WR_SEND, 1, 0, IBV_SEND_SIGNALED);
		complete();
	} else {
		received();
		printf("%d %d\n", (int)box[4], (int)box[8]);
#ifdef GET
		box[2] = 5;
		post(IBV_WR_RDMA_READ, 2, 0, IBV_SEND_SIGNALED);
		printf("%d\n", (int)box[2]);
		complete();
#endif
	}
	leave();
}
