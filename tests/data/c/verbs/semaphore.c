#include <pthread.h>
#include <semaphore.h>
#include "two_sides.h"
static sem_t full;
static void *second(void *argument)
{
	(void)argument;
	sem_wait(&full);
	m.z = m.x;
	return NULL;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	RR_HARDWARE("cpu tso");
	sem_init(&full, 0, 0);
	set_up("A", "B");
	pthread_create(&thread, NULL, second, NULL);
	m.x = 1;
	sem_post(&full);
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 24);
}
