/* One thread posts, another one polls, and a semaphore says whose turn it is; with -DEARLY the next write is prepared before the
   turn comes, with -DALONE nothing says whose turn it is. */
#include "pair.h"
#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *poller(void *unused)
{
	complete();
#ifndef ALONE
	sem_post(&done);
#endif
	complete();
	return unused;
}
int main(void)
{
	pthread_t thread;
	sem_init(&done, 0, 0);
	connect_pair(0);
	if (me == 0) {
		pthread_create(&thread, NULL, poller, NULL);
		box[0] = 1;
		post(IBV_WR_RDMA_WRITE, 0, 4, IBV_SEND_SIGNALED);
#ifdef EARLY
		box[0] = 2;
#endif
#ifndef ALONE
		sem_wait(&done);
#endif
		box[0] = 2;
		post(IBV_WR_RDMA_WRITE, 0, 4, IBV_SEND_SIGNALED);
		pthread_join(thread, NULL);
	}
	leave();
}
