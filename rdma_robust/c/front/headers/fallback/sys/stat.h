/* Declarations of ours, for where the system has no <sys/stat.h>. */
#ifndef RDMA_ROBUST_SYS_STAT_H
#define RDMA_ROBUST_SYS_STAT_H
#include <sys/types.h>
int mkdir(const char *, mode_t);
int chmod(const char *, mode_t);
#endif
