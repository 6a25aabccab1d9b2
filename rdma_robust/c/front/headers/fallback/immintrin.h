/* Of Intel's intrinsics those that order memory, and the clock; of the compiler's own header libclang cannot read the rest. */
#ifndef RDMA_ROBUST_IMMINTRIN_H
#define RDMA_ROBUST_IMMINTRIN_H
#define _mm_mfence() __rr_fence(5)
#define _mm_lfence() ((void)0)
#define _mm_sfence() ((void)0)
#define _mm_pause() ((void)0)
void _mm_clflush(const void *);
void _mm_clflushopt(const void *);
void _mm_clwb(const void *);
unsigned long long __rdtsc(void);
unsigned long long __rdtscp(unsigned int *);
#define _rdtsc() __rdtsc()
#endif
