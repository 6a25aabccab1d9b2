# cython: language_level=3
from libc.stdint cimport int32_t, int64_t, uint64_t

from rdma_robust.counters.kernel._agenda cimport Agenda

cdef extern from *:
    """
    #define rdma_flag(place) __atomic_load_n(place, __ATOMIC_RELAXED)
    #define rdma_raise(place, value) __atomic_store_n(place, value, __ATOMIC_RELAXED)
    """
    int32_t flag "rdma_flag" (int32_t *place) noexcept nogil
    void set_flag "rdma_raise" (int32_t *place, int32_t value) noexcept nogil

cdef extern from "pthread.h" nogil:
    ctypedef struct pthread_mutex_t:
        pass
    ctypedef struct pthread_cond_t:
        pass
    int pthread_mutex_init(pthread_mutex_t *lock, void *how)
    int pthread_mutex_destroy(pthread_mutex_t *lock)
    int pthread_mutex_lock(pthread_mutex_t *lock)
    int pthread_mutex_unlock(pthread_mutex_t *lock)
    int pthread_cond_init(pthread_cond_t *condition, void *how)
    int pthread_cond_destroy(pthread_cond_t *condition)
    int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
    int pthread_cond_broadcast(pthread_cond_t *condition)


# One of the parts of a work, by its number.
ctypedef void (*Part)(void *work, int64_t part) noexcept nogil


cdef class Team:
    cdef pthread_mutex_t lock, growth
    cdef pthread_cond_t news
    cdef int32_t stopped, pausing, hungry, ended
    cdef readonly int workers
    cdef int active, working, round
    cdef bint dismissed
    cdef int64_t budget
    cdef uint64_t *pool
    cdef int64_t size, room
    cdef Part part
    cdef void *work
    cdef int64_t parts, parts_taken, parts_done

    cdef void begin(self, int64_t budget) noexcept nogil
    cdef bint called(self, int *round) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void gather(self) noexcept nogil
    cdef void enter(self) noexcept nogil
    cdef void leave(self) noexcept nogil
    cdef void wait_for_room(self) noexcept nogil
    cdef void park(self) noexcept nogil
    cdef void alone(self) noexcept nogil
    cdef void share(self, Part part, void *work, int64_t parts) noexcept nogil
    cdef void help(self) noexcept nogil
    cdef void go_on(self) noexcept nogil
    cdef bint give(self, Agenda agenda, int rank) noexcept nogil
    cdef int take(self, Agenda agenda) noexcept nogil
