/* Declarations of ours, for where the system has no <sys/uio.h>. */
#ifndef RDMA_ROBUST_SYS_UIO_H
#define RDMA_ROBUST_SYS_UIO_H
#include <sys/types.h>
struct iovec {
	void *iov_base;
	size_t iov_len;
};
#endif
