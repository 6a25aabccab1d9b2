/* Declarations of ours, for where the system has no <sys/mman.h>. */
#ifndef RDMA_ROBUST_SYS_MMAN_H
#define RDMA_ROBUST_SYS_MMAN_H
#include <sys/types.h>
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 0x20
#define MAP_ANON MAP_ANONYMOUS
#define MAP_HUGETLB 0x40000
#define MAP_FAILED ((void *)-1)
#define MS_SYNC 4
void *mmap(void *, size_t, int, int, int, off_t);
int munmap(void *, size_t);
int mprotect(void *, size_t, int);
int mlock(const void *, size_t);
int msync(void *, size_t, int);
int madvise(void *, size_t, int);
int shm_open(const char *, int, mode_t);
#endif
