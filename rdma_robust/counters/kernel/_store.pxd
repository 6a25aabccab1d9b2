# cython: language_level=3
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from rdma_robust.counters.kernel._pairs cimport Budget, Numbers, Pairs, extra_of

cdef class Store:
    cdef int words, counters, extra
    cdef Pairs parts, roots
    cdef Budget budget
    cdef int64_t max_states
    cdef int64_t *scratch

    cdef void limit(self, int64_t max_states, int64_t max_bytes) noexcept nogil
    cdef bint covered(self, uint64_t *counters, int64_t other) noexcept nogil
    cdef void raise_counters(self, uint64_t *counters, uint64_t root, int64_t number, int64_t chain) noexcept nogil


cdef class Folder:
    cdef Store store
    cdef Pairs parts, roots
    cdef int words, record, last, sets
    cdef int32_t *pair
    cdef int32_t *above
    cdef uint32_t *base
    cdef uint32_t *ref
    cdef uint64_t *changed
    cdef uint64_t *state
    cdef uint64_t root
    cdef bint unfolded
    cdef Numbers spare_parts, spare_roots
    cdef char apart[64]

    cdef void unfold(self, int64_t number) noexcept nogil
    cdef bint fold(self, uint64_t *r, bint add, uint64_t *root) noexcept nogil
    cdef void rebase(self, uint64_t *r, uint64_t root) noexcept nogil
    cdef bint part(self, uint64_t word, bint add, uint32_t *number) noexcept nogil
    cdef int64_t insert(self, uint64_t *r, uint64_t root, int64_t old) noexcept nogil


cdef inline uint64_t *counters_of(Store store, int64_t number) noexcept nogil:
    """The next state with the same fields and one more, in the low half, the label that led here, and the counters."""
    return extra_of(store.roots, number, store.extra)
