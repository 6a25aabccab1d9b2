/* Declarations of ours, for where the system has no <alloca.h>. */
#ifndef RDMA_ROBUST_ALLOCA_H
#define RDMA_ROBUST_ALLOCA_H
#include <stdlib.h>
#endif
