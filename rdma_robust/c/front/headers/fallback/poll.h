/* Declarations of ours, for where the system has no <poll.h>. */
#ifndef RDMA_ROBUST_POLL_H
#define RDMA_ROBUST_POLL_H
struct pollfd {
	int fd;
	short events, revents;
};
typedef unsigned long nfds_t;
#define POLLIN 1
#define POLLOUT 4
int poll(struct pollfd *, nfds_t, int);
#endif
