# cython: language_level=3
from libc.stdint cimport int64_t, uint8_t, uint64_t

from rdma_robust.counters.kernel._look_ahead cimport Look


cdef class LookAhead(Look):
    cdef uint8_t *tried
    cdef uint64_t *marks
    cdef uint64_t *masked
    cdef uint64_t *memory
    cdef int64_t *bucket
    cdef int64_t used, effort

    cdef bint hopeless(self, uint64_t *record) noexcept nogil
    cdef void generalise(self) noexcept nogil
    cdef void spread_out(self, int p, int64_t first, int64_t end) noexcept nogil
    cdef bint known(self, uint64_t *record, int64_t *key, uint64_t *place) noexcept nogil
    cdef bint proves(self, uint64_t *proof, uint64_t *record) noexcept nogil
    cdef void remember(self, uint64_t *record, int64_t key, uint64_t place) noexcept nogil
    cdef void prove(self, uint64_t *proof, uint64_t *record) noexcept nogil
    cdef void require(self, uint64_t *proof, uint64_t *record, int64_t field, int64_t least, int64_t allowed) noexcept nogil
