/* Declarations of ours, for where the system has no <malloc.h>. */
#ifndef RDMA_ROBUST_MALLOC_H
#define RDMA_ROBUST_MALLOC_H
#include <stdlib.h>
#endif
