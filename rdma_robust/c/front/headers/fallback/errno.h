/* Declarations of ours, for where the system has no <errno.h>. */
#ifndef RDMA_ROBUST_ERRNO_H
#define RDMA_ROBUST_ERRNO_H
int *__errno_location(void);
#define errno (*__errno_location())
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define ENODEV 19
#define ENOTDIR 20
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOSPC 28
#define EPIPE 32
#define EDOM 33
#define ERANGE 34
#define EDEADLK 35
#define ENOSYS 38
#define EPROTO 71
#define EOVERFLOW 75
#define EOPNOTSUPP 95
#define EADDRINUSE 98
#define ENETUNREACH 101
#define ECONNRESET 104
#define EISCONN 106
#define ENOTCONN 107
#define ETIMEDOUT 110
#define ECONNREFUSED 111
#define EALREADY 114
#define EINPROGRESS 115
#define ECANCELED 125
#define EWOULDBLOCK EAGAIN
#define ENOTSUP EOPNOTSUPP
#endif
