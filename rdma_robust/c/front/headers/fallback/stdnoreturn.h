/* Declarations of ours, for where the system has no <stdnoreturn.h>. */
#ifndef RDMA_ROBUST_STDNORETURN_H
#define RDMA_ROBUST_STDNORETURN_H
#define noreturn _Noreturn
#endif
