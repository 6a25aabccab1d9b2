/* Declarations of ours, for where the system has no <emmintrin.h>. */
#ifndef RDMA_ROBUST_EMMINTRIN_H
#define RDMA_ROBUST_EMMINTRIN_H
#include <immintrin.h>
#endif
