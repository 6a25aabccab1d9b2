/* Declarations of ours, for where the system has no <stddef.h>. */
#ifndef RDMA_ROBUST_STDDEF_H
#define RDMA_ROBUST_STDDEF_H
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef long double max_align_t;
#undef NULL
#define NULL ((void *)0)
#undef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
