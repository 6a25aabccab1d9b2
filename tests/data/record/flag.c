/* Data and a flag, put one after the other; with -DSHARED both from one word, which is written again too early. */
#include "pair.h"

int main(void)
{
	connect_pair(0);
	if (me == 0) {
		box[0] = 42, box[1] = 1;
#ifdef SHARED
		post(IBV_WR_RDMA_WRITE, 0, 4, IBV_SEND_SIGNALED);
		box[0] = 1;
		post(IBV_WR_RDMA_WRITE, 0, 5, IBV_SEND_SIGNALED);
#else
		post(IBV_WR_RDMA_WRITE, 0, 4, IBV_SEND_SIGNALED);
		post(IBV_WR_RDMA_WRITE, 1, 5, IBV_SEND_SIGNALED);
#endif
		complete();
		complete();
	} else {
		while (__atomic_load_n(&box[5], __ATOMIC_ACQUIRE) == 0)
			;
		printf("%d\n", (int)box[4]);
	}
	leave();
}
