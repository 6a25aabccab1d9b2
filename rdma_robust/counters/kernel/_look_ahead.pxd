# cython: language_level=3
from libc.stdint cimport int64_t, uint8_t, uint64_t

from rdma_robust.counters.kernel._packed cimport Field

# The columns of a move. Pairs (field, bits) from BARS to GOAL_BARS are the bars that a goal minds, to MARKS all of them,
# from there to MARKS_END its marks; NEXT is the next move of its process from its source.
cdef enum:
    PROCESS, SOURCE, TARGET, BARS, GOAL_BARS, MARKS, MARKS_END, PASSES, CELL, GUARDED, LEAST, ALLOWED, WRITES, COUNTS, NEXT
    MOVE_COLUMNS

cdef enum:
    KIND_PROCESS, KIND_CELL, KEPT, KEPT_END, GUARDS, GUARDS_END, KIND_COLUMNS

cdef enum:
    KIND_FIELD, MET_FIELD, GONE_FIELD, KEPT_FIELD, SPREAD_PAIRS


cdef class Look:
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
    cdef uint8_t **also
    cdef int64_t *places
    cdef int64_t *waiting
    cdef int64_t blocked, refused_field
    cdef int64_t *refusal
    cdef char apart[64]

    cdef bint look(self) noexcept nogil
    cdef bint marked(self, int64_t first, int64_t last) noexcept nogil
    cdef void follow(self, int64_t gone) noexcept nogil
    cdef int64_t take(self, int64_t i, int64_t *m, int64_t n) noexcept nogil
    cdef int possible(self, int64_t *kind, int64_t goal) noexcept nogil
    cdef bint spreads(self, int64_t *kind, uint64_t *ends) noexcept nogil
    cdef bint reaches_end(self, int64_t *kind, uint64_t *ends) noexcept nogil


cdef inline bint holds(int64_t value, int64_t least, int64_t allowed) noexcept nogil:
    return value < least or value - least >= 64 or <uint64_t>allowed >> (value - least) & 1
