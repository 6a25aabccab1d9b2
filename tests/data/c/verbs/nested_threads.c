/* A thread creates a thread of the same function as main does: these are two. */
#include <pthread.h>
#include "two_sides.h"
static void *add(void *argument)
{
	*(long *)argument = 1;
	return NULL;
}
static void *both(void *argument)
{
	pthread_t thread;
	(void)argument;
	pthread_create(&thread, NULL, add, &m.y);
	pthread_join(thread, NULL);
	m.z = m.y;
	return NULL;
}
RR_PROCESS(A) void AT(void)
{
	pthread_t one, two;
	set_up("A", "B");
	pthread_create(&one, NULL, add, &m.x);
	pthread_create(&two, NULL, both, NULL);
	pthread_join(one, NULL);
}
RR_PROCESS(B) void BT(void)
{
	set_up("B", "A");
	post(IBV_WR_RDMA_READ, 0, &m.x, &there->x, 24);
}
