# cython: language_level=3
from libc.stdint cimport int32_t, int64_t, uint64_t

from rdma_robust.counters.kernel._packed cimport LOW


cdef struct Bucket:
    uint64_t *words
    int64_t size
    int64_t room


cdef class Partition:
    cdef readonly int parts, part
    cdef int words, record, masked
    cdef uint64_t slots
    cdef uint64_t *mask
    cdef int32_t *word
    cdef int32_t *owners
    cdef Bucket *bucket
    cdef uint64_t *sent

    cdef int owner(self, uint64_t *record) noexcept nogil
    cdef bint sort_out(self, uint64_t *buffer, int64_t count) noexcept nogil
    cdef bint put(self, uint64_t *record, Bucket *bucket) noexcept nogil
