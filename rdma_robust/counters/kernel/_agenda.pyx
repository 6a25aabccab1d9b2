# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The states that are still to be expanded: a stack for each rank, the highest rank first."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove

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

    cdef object save(self, write):
        """Hand the numbers of each rank to `write`, behind how many they are."""
        cdef int rank
        cdef int64_t size
        for rank in range(self.ranks):
            size = self.stack[rank].size
            write(PyBytes_FromStringAndSize(<char *>&size, 8))
            write(PyBytes_FromStringAndSize(<char *>self.stack[rank].items, size * sizeof(uint32_t)))

    cdef object restore(self, int64_t states, read):
        """Take the numbers of states, of which there are so many, as :meth:`save` has handed them over. Raises MemoryError,
        ValueError for numbers that are none."""
        cdef int rank
        cdef int64_t size, i
        cdef uint32_t number
        cdef const unsigned char[::1] numbers
        for rank in range(self.ranks):
            numbers = read(8)
            memcpy(&size, &numbers[0], 8)
            if not 0 <= size <= states:
                raise ValueError("too many states wait")
            numbers = read(size * sizeof(uint32_t))
            for i in range(size):
                memcpy(&number, &numbers[4 * i], 4)
                if number >= states:
                    raise ValueError("a state waits that is not there")
                if not self.put(rank, number):
                    raise MemoryError

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
