/* Declarations of ours, for where the system has no <x86intrin.h>. */
#ifndef RDMA_ROBUST_X86INTRIN_H
#define RDMA_ROBUST_X86INTRIN_H
#include <immintrin.h>
#endif
