/* Included before every file: builtins of compilers that libclang gives no name become ordinary functions. */
#ifndef RDMA_ROBUST_BUILTINS_H
#define RDMA_ROBUST_BUILTINS_H
typedef unsigned long long __rr_word;
__rr_word __rr_load(const volatile void *, unsigned long, int);
void __rr_store(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_exchange(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_fetch_add(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_fetch_sub(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_fetch_and(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_fetch_or(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_fetch_xor(volatile void *, unsigned long, __rr_word, int);
__rr_word __rr_fetch_nand(volatile void *, unsigned long, __rr_word, int);
int __rr_compare_exchange(volatile void *, unsigned long, void *, __rr_word, int);
void __rr_fence(int);
#define __rr_type(p) __typeof__(*(p) + 0)
#define __rr_place(p) (volatile void *)(p), sizeof *(p)
#define __rr_number(p, v) ((__rr_word)(__rr_type(p))(v))
#define __rr_old(name, p, v, o) ((__rr_type(p))name(__rr_place(p), __rr_number(p, v), o))
#define __rr_plain(p) __typeof__(((void)0, *(p)))
#define __rr_new(name, p, v, op, o) \
	({ __typeof__(((void)0, (v))) __rr_by = (v); (__rr_plain(p))(__rr_old(name, p, __rr_by, o) op __rr_by); })
#define __rr_take(p, e, d, o) __rr_compare_exchange(__rr_place(p), (void *)(e), __rr_number(p, d), o)

#define __atomic_load_n(p, o) ((__rr_type(p))__rr_load(__rr_place(p), o))
#define __atomic_load(p, r, o) ((void)(*(r) = __atomic_load_n(p, o)))
#define __atomic_store_n(p, v, o) __rr_store(__rr_place(p), __rr_number(p, v), o)
#define __atomic_store(p, v, o) __atomic_store_n(p, *(v), o)
#define __atomic_exchange_n(p, v, o) __rr_old(__rr_exchange, p, v, o)
#define __atomic_exchange(p, v, r, o) ((void)(*(r) = __atomic_exchange_n(p, *(v), o)))
#define __atomic_compare_exchange_n(p, e, d, w, s, f) __rr_take(p, e, d, s)
#define __atomic_compare_exchange(p, e, d, w, s, f) __rr_take(p, e, *(d), s)
#define __atomic_fetch_add(p, v, o) __rr_old(__rr_fetch_add, p, v, o)
#define __atomic_fetch_sub(p, v, o) __rr_old(__rr_fetch_sub, p, v, o)
#define __atomic_fetch_and(p, v, o) __rr_old(__rr_fetch_and, p, v, o)
#define __atomic_fetch_or(p, v, o) __rr_old(__rr_fetch_or, p, v, o)
#define __atomic_fetch_xor(p, v, o) __rr_old(__rr_fetch_xor, p, v, o)
#define __atomic_fetch_nand(p, v, o) __rr_old(__rr_fetch_nand, p, v, o)
#define __atomic_add_fetch(p, v, o) __rr_new(__rr_fetch_add, p, v, +, o)
#define __atomic_sub_fetch(p, v, o) __rr_new(__rr_fetch_sub, p, v, -, o)
#define __atomic_and_fetch(p, v, o) __rr_new(__rr_fetch_and, p, v, &, o)
#define __atomic_or_fetch(p, v, o) __rr_new(__rr_fetch_or, p, v, |, o)
#define __atomic_xor_fetch(p, v, o) __rr_new(__rr_fetch_xor, p, v, ^, o)
#define __atomic_test_and_set(p, o) ((_Bool)__rr_exchange((volatile void *)(volatile unsigned char *)(p), 1, 1, o))
#define __atomic_clear(p, o) __rr_store((volatile void *)(volatile unsigned char *)(p), 1, 0, o)
#define __atomic_thread_fence(o) __rr_fence(o)
#define __atomic_signal_fence(o) ((void)(o))
#define __atomic_is_lock_free(n, p) 1
#define __atomic_always_lock_free(n, p) 1

#define __sync_synchronize() __rr_fence(5)
#define __sync_fetch_and_add(p, ...) __rr_old(__rr_fetch_add, p, (__VA_ARGS__), 5)
#define __sync_fetch_and_sub(p, ...) __rr_old(__rr_fetch_sub, p, (__VA_ARGS__), 5)
#define __sync_fetch_and_and(p, ...) __rr_old(__rr_fetch_and, p, (__VA_ARGS__), 5)
#define __sync_fetch_and_or(p, ...) __rr_old(__rr_fetch_or, p, (__VA_ARGS__), 5)
#define __sync_fetch_and_xor(p, ...) __rr_old(__rr_fetch_xor, p, (__VA_ARGS__), 5)
#define __sync_add_and_fetch(p, v) __rr_new(__rr_fetch_add, p, v, +, 5)
#define __sync_sub_and_fetch(p, v) __rr_new(__rr_fetch_sub, p, v, -, 5)
#define __sync_and_and_fetch(p, v) __rr_new(__rr_fetch_and, p, v, &, 5)
#define __sync_or_and_fetch(p, v) __rr_new(__rr_fetch_or, p, v, |, 5)
#define __sync_xor_and_fetch(p, v) __rr_new(__rr_fetch_xor, p, v, ^, 5)
#define __sync_lock_test_and_set(p, ...) __rr_old(__rr_exchange, p, (__VA_ARGS__), 5)
#define __sync_lock_release(p) __rr_store(__rr_place(p), 0, 3)
#define __sync_bool_compare_and_swap(p, e, d) \
	({ __rr_plain(p) __rr_expected = (e); __rr_take(p, &__rr_expected, d, 5); })
#define __sync_val_compare_and_swap(p, e, d) \
	({ __rr_plain(p) __rr_expected = (e); (void)__rr_take(p, &__rr_expected, d, 5); __rr_expected; })
#endif
