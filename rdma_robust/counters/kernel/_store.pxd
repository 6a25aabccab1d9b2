# cython: language_level=3
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    CHUNK_BITS = 14
    CHUNK = 1 << 14


cdef class Store:
    cdef int words, counters, record, index_bits
    cdef int64_t *scratch
    cdef uint64_t **chunk
    cdef int64_t chunks, chunk_room
    cdef uint32_t *table
    cdef uint64_t mask
    cdef int64_t states, bytes, max_bytes

    cdef int64_t find(self, uint64_t *r, uint64_t h, uint64_t *place) noexcept nogil
    cdef bint insert(self, uint64_t *r, uint64_t h, int64_t old, uint64_t place) noexcept nogil
    cdef bint covered(self, uint64_t *r, int64_t other) noexcept nogil
    cdef bint at_most(self, uint64_t *small, uint64_t *large) noexcept nogil
    cdef void raise_counters(self, uint64_t *r, int64_t number, int64_t chain) noexcept nogil
    cdef bint new_chunk(self) noexcept nogil
    cdef bint rehash(self) noexcept nogil


cdef inline uint64_t *record_at(Store store, int64_t number) noexcept nogil:
    return store.chunk[number >> CHUNK_BITS] + (number & (CHUNK - 1)) * store.record
