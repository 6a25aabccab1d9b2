#include <pthread.h>
#include "two_sides.h"
static pthread_spinlock_t lock;
static pthread_barrier_t barrier;
static void *second(void *argument)
{
	(void)argument;
	pthread_spin_lock(&lock);
	m.x = 1;
	pthread_spin_unlock(&lock);
	pthread_barrier_wait(&barrier);
	m.z = m.y;
	return NULL;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	RR_HARDWARE("cpu tso");
	pthread_spin_init(&lock, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	set_up("A", "B");
	pthread_create(&thread, NULL, second, NULL);
	pthread_spin_lock(&lock);
	m.y = 1;
	pthread_spin_unlock(&lock);
	pthread_barrier_wait(&barrier);
	m.w = m.x;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 32);
}
