"""See the .pyx file."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from rdma_robust.counters.kernel._packed cimport Field


cdef class LookAhead:
    cdef int words, processes, fields
    cdef int64_t row, moves
    cdef Field *field
    cdef int64_t *value
    cdef int64_t *header
    cdef int64_t *move
    cdef int64_t *pair
    cdef int64_t *kind
    cdef int64_t *kind_guard
    cdef uint64_t *rows
    cdef uint64_t *sets
    cdef uint8_t **reached
    cdef int64_t **first
    cdef int64_t *locations
    cdef uint8_t *written
    cdef uint8_t *any_value
    cdef uint8_t *tried
    cdef uint8_t **also
    cdef int64_t *places
    cdef int64_t *waiting
    cdef int64_t blocked, refused_field
    cdef int64_t *refusal
    cdef uint64_t *marks
    cdef uint64_t *masked
    cdef uint64_t *memory
    cdef int64_t used, effort
    cdef int64_t *bucket

    cdef bint hopeless(self, uint64_t *record) noexcept nogil
    cdef void generalise(self) noexcept nogil
    cdef void spread_out(self, int p, int64_t first, int64_t end) noexcept nogil
    cdef bint known(self, uint64_t *record, int64_t *key, uint64_t *place) noexcept nogil
    cdef bint proves(self, uint64_t *proof, uint64_t *record) noexcept nogil
    cdef void remember(self, uint64_t *record, int64_t key, uint64_t place) noexcept nogil
    cdef void prove(self, uint64_t *proof, uint64_t *record) noexcept nogil
    cdef void require(self, uint64_t *proof, uint64_t *record, int64_t field, int64_t least, int64_t allowed) noexcept nogil
    cdef bint look(self) noexcept nogil
    cdef bint marked(self, int64_t first, int64_t last) noexcept nogil
    cdef void follow(self, int64_t gone) noexcept nogil
    cdef int64_t take(self, int64_t i, int64_t *m, int64_t n) noexcept nogil
    cdef int possible(self, int64_t *kind, int64_t goal) noexcept nogil
    cdef bint spreads(self, int64_t *kind, uint64_t *ends) noexcept nogil
    cdef bint reaches_end(self, int64_t *kind, uint64_t *ends) noexcept nogil
