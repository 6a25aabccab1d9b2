#include <pthread.h>
#include "two_sides.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *second(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&lock);
	m.x = m.x + 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	RR_HARDWARE("cpu tso");
	RR_VALUES(0, 2);
	set_up("A", "B");
	pthread_create(&thread, NULL, second, NULL);
	second(NULL);
	pthread_join(thread, NULL);
	m.y = m.x;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 16);
}
