# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The states that are still to be expanded: a stack for each rank, the highest rank first."""

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memmove

from rdma_robust.native.memory cimport refuse, try_grown, zeroed


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Agenda:
    """Nothing to do yet, for so many ranks. Raises MemoryError."""

    def __init__(self, int ranks):
        self.stack = <Stack *>zeroed(ranks, sizeof(Stack))
        self.ranks = ranks

    def __dealloc__(self):
        cdef int i
        for i in range(self.ranks):
            free(self.stack[i].items)
        free(self.stack)

    cdef int highest(self) noexcept nogil:
        """The highest rank that has a state, or -1."""
        cdef int rank = self.ranks - 1
        while rank >= 0 and self.stack[rank].size == 0:
            rank -= 1
        return rank

    cdef int64_t last(self, int rank) noexcept nogil:
        """The newest state of a rank that has one."""
        return self.stack[rank].items[self.stack[rank].size - 1]

    cdef void drop(self, int rank) noexcept nogil:
        """Remove the newest state of a rank."""
        self.stack[rank].size -= 1

    cdef void take_back(self, int rank) noexcept nogil:
        """Put back what has just been removed."""
        self.stack[rank].size += 1

    cdef int fullest(self) noexcept nogil:
        """The rank that has most states."""
        cdef int rank, best = 0
        for rank in range(1, self.ranks):
            if self.stack[rank].size > self.stack[best].size:
                best = rank
        return best

    cdef void forget(self, int rank, int64_t count) noexcept nogil:
        """Remove the oldest states of a rank."""
        cdef Stack *stack = &self.stack[rank]
        stack.size -= count
        memmove(stack.items, stack.items + count, stack.size * sizeof(uint32_t))

    cdef bint put(self, int rank, int64_t number) noexcept nogil:
        """Add a state; False if there is no memory."""
        cdef Stack *stack = &self.stack[rank]
        cdef int64_t before = stack.room
        cdef void *made = try_grown(stack.items, &stack.room, stack.size + 1, sizeof(uint32_t))
        if made == NULL:
            return False
        stack.items = <uint32_t *>made
        self.bytes += (stack.room - before) * sizeof(uint32_t)
        stack.items[stack.size] = <uint32_t>number
        stack.size += 1
        return True
