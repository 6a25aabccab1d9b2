# cython: language_level=3
from libc.stdint cimport int64_t, uint32_t


cdef struct Stack:
    uint32_t *items
    int64_t size
    int64_t room


cdef class Agenda:
    cdef Stack *stack
    cdef int ranks
    cdef int64_t bytes
    cdef char apart[64]

    cdef object save(self, write)
    cdef object restore(self, int64_t states, read)
    cdef int highest(self) noexcept nogil
    cdef int64_t last(self, int rank) noexcept nogil
    cdef void drop(self, int rank) noexcept nogil
    cdef void take_back(self, int rank) noexcept nogil
    cdef int fullest(self) noexcept nogil
    cdef void forget(self, int rank, int64_t count) noexcept nogil
    cdef bint put(self, int rank, int64_t number) noexcept nogil
