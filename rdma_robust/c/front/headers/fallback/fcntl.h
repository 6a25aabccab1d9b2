/* Declarations of ours, for where the system has no <fcntl.h>. */
#ifndef RDMA_ROBUST_FCNTL_H
#define RDMA_ROBUST_FCNTL_H
#include <sys/types.h>
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_NONBLOCK 04000
#define F_GETFL 3
#define F_SETFL 4
int open(const char *, int, ...);
int fcntl(int, int, ...);
#endif
