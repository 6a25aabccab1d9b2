# cython: language_level=3
"""See _arrange.pyx."""

from libc.stdint cimport int64_t, uint64_t


cdef class Arrange:
    cdef int words, groups
    cdef int64_t *group
    cdef int64_t *pair
    cdef int64_t *trade
    cdef int64_t *code
    cdef int64_t *when
    cdef int64_t *key
    cdef uint64_t *old
    cdef uint64_t *found

    cdef void arrange(self, uint64_t *record) noexcept nogil
    cdef void arrange_all(self, uint64_t *buffer, int64_t count, int record) noexcept nogil
    cdef void read_keys(self, uint64_t *record, int64_t *group) noexcept nogil
    cdef void exchange(self, uint64_t *record, int64_t first, int64_t end) noexcept nogil
    cdef bint applies(self, int64_t *trade) noexcept nogil
    cdef uint64_t coded(self, uint64_t value, int64_t first, int64_t count) noexcept nogil
