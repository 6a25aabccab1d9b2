#include <pthread.h>
#include "two_sides.h"
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make(void)
{
	m.x = 1;
}
static void *second(void *argument)
{
	(void)argument;
	pthread_once(&once, make);
	m.y = m.x;
	return NULL;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t thread;
	RR_HARDWARE("cpu tso");
	set_up("A", "B");
	pthread_create(&thread, NULL, second, NULL);
	pthread_once(&once, make);
	m.z = m.x;
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 24);
}
