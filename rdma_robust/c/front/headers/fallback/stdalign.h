/* Declarations of ours, for where the system has no <stdalign.h>. */
#ifndef RDMA_ROBUST_STDALIGN_H
#define RDMA_ROBUST_STDALIGN_H
#define alignas _Alignas
#define alignof _Alignof
#endif
