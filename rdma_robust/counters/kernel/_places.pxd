# cython: language_level=3
from libc.stdint cimport int32_t, int64_t, uint64_t


cdef struct Place:
    uint64_t next_reads
    uint64_t next_writes
    uint64_t reads
    uint64_t writes
    int32_t code
    int32_t target
    int32_t number
    int32_t local
    int32_t known


cdef class Places:
    cdef int processes
    cdef Place **place
    cdef int32_t global_target

    cdef int unknown(self, int64_t *slot) noexcept nogil
    cdef int clusters(self, int64_t *slot, uint64_t *members, uint64_t everything) noexcept nogil
    cdef void disturb(self, int64_t *slot, uint64_t *disturbed) noexcept nogil
