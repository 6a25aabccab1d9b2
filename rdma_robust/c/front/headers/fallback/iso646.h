/* Declarations of ours, for where the system has no <iso646.h>. */
#ifndef RDMA_ROBUST_ISO646_H
#define RDMA_ROBUST_ISO646_H
#define and &&
#define or ||
#define not !
#endif
