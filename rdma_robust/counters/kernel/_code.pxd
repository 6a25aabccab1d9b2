# cython: language_level=3
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from rdma_robust.counters.kernel._packed cimport Field
from rdma_robust.counters.kernel._store cimport Folder

# The one place that numbers operations and statuses: bytecode.py and driver.py have them from here, by their names.
cpdef enum Op:
    END, EMIT, JZ, JMP, CALL, RET, ACCEPT, MOV, ADD, SUB, MUL, DIV, MOD, EQ, NE, LT, LE, NOT, LAND, LOR, AND, OR, ANDN, SHR
    ITE, BIT, LATER

# Why a run of the kernel ended.
cpdef enum Status:
    BUDGET, DONE, FOUND, CODE, WIDE, STATES, MEMORY, OVERFLOW, NUMBERS


cdef class Code:
    cdef int words, record, counters, fields, wide_field, wanted
    cdef Field *field
    cdef int32_t *code
    cdef int64_t *slot
    cdef int32_t *leaf
    cdef int32_t *change
    cdef int64_t *effect
    cdef uint64_t *table
    cdef uint8_t *fired_bits
    cdef int64_t labels, wide_value
    cdef uint64_t *buffer
    cdef uint64_t *roots
    cdef int64_t size, room, root_room
    cdef bint neutral
    cdef char apart[64]

    cdef void unpack(self, uint64_t *r) noexcept nogil
    cdef void fire(self, int64_t label) noexcept nogil
    cdef int execute(self, int64_t number, uint64_t *parent, int64_t pc) noexcept nogil
    cdef int emit(self, int64_t number, uint64_t *parent, int32_t leaf, int32_t option) noexcept nogil
    cdef bint fold_all(self, Folder folder, bint along) noexcept nogil
    cdef bint more_room(self) noexcept nogil
