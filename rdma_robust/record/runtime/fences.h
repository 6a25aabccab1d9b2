/* Included before everything that is recorded: gcc does not tell hooks of fences. */
#ifdef __cplusplus
extern "C"
#endif
void __tsan_atomic_thread_fence(int order);
#define __atomic_thread_fence(order) __tsan_atomic_thread_fence(order)
#define __sync_synchronize() __tsan_atomic_thread_fence(5)
#define __builtin_ia32_mfence() __tsan_atomic_thread_fence(5)
