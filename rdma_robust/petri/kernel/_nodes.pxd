# cython: language_level=3
from libc.stdint cimport int64_t, uint64_t

from rdma_robust.petri.kernel.node cimport Node
from rdma_robust.petri.kernel.numbers cimport Numbers


cdef class Nodes:
    cdef int places, words, count, live
    cdef bint exact
    cdef Node **nodes
    cdef int64_t space
    cdef Node *query
    cdef Numbers *holding
    cdef Numbers *watching
    cdef Numbers bare
    cdef int *table
    cdef uint64_t mask
    cdef int64_t work_done
    cdef int _start(self, initial) except -1
    cdef int _keep(self) except -1
    cdef int _index(self, int number) except -1
    cdef Node *_copy(self) except NULL
    cdef bint _known(self, Node *node) noexcept
    cdef int _enter(self, int number) except -1
    cdef void _put(self, int number) noexcept
    cdef int _rarest(self, Node *node) noexcept
    cdef bint _covered(self, Node *node, int but) noexcept
    cdef void _replace(self, int node) noexcept
    cdef void _replace_in(self, Numbers *numbers, int node) noexcept
    cdef void _kill(self, int node) noexcept
