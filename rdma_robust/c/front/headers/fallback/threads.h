/* Declarations of ours, for where the system has no <threads.h>. */
#ifndef RDMA_ROBUST_THREADS_H
#define RDMA_ROBUST_THREADS_H
#include <pthread.h>
typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef int (*thrd_start_t)(void *);
enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_plain, mtx_recursive, mtx_timed };
int thrd_create(thrd_t *, thrd_start_t, void *);
int thrd_join(thrd_t, int *);
void thrd_yield(void);
int mtx_init(mtx_t *, int);
int mtx_lock(mtx_t *);
int mtx_unlock(mtx_t *);
void mtx_destroy(mtx_t *);
#endif
