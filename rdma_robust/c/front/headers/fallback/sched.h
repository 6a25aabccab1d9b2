/* Declarations of ours, for where the system has no <sched.h>. */
#ifndef RDMA_ROBUST_SCHED_H
#define RDMA_ROBUST_SCHED_H
#include <sys/types.h>
#include <time.h>
typedef struct {
	unsigned long __bits[16];
} cpu_set_t;
#define CPU_SETSIZE 1024
#define CPU_ZERO(set) ((void)(*(set) = (cpu_set_t){ { 0 } }))
#define CPU_SET(cpu, set) ((void)((set)->__bits[(cpu) / 64] |= 1ul << (cpu) % 64))
int sched_yield(void);
int sched_setaffinity(pid_t, size_t, const cpu_set_t *);
int sched_getcpu(void);
#endif
