# cython: language_level=3
from libc.stdint cimport int64_t


cdef class Rows:
    cdef int *start
    cdef int *index
    cdef int64_t *value
    cdef int count


cdef class Waiting:
    cdef Rows at
    cdef list always
