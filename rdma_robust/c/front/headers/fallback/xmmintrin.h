/* Declarations of ours, for where the system has no <xmmintrin.h>. */
#ifndef RDMA_ROBUST_XMMINTRIN_H
#define RDMA_ROBUST_XMMINTRIN_H
#include <immintrin.h>
#endif
