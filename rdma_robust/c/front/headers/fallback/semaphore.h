/* Declarations of ours, for where the system has no <semaphore.h>. */
#ifndef RDMA_ROBUST_SEMAPHORE_H
#define RDMA_ROBUST_SEMAPHORE_H
typedef struct {
	long __opaque[4];
} sem_t;
int sem_init(sem_t *, int, unsigned int);
int sem_destroy(sem_t *);
int sem_wait(sem_t *);
int sem_trywait(sem_t *);
int sem_post(sem_t *);
int sem_getvalue(sem_t *, int *);
#endif
