# cython: language_level=3
"""The numbers of the compiled kernels: token counts as machine words, and growing lists of node numbers."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free

from rdma_robust.native.memory cimport grown

cdef extern from *:
    """
    /* No token count and no change of one is larger than the first; the other is omega. */
    #define RDMA_BIG ((int64_t)1 << 60)
    #define RDMA_ANY ((int64_t)1 << 62)
    """
    const int64_t BIG "RDMA_BIG"
    const int64_t ANY "RDMA_ANY"


cdef inline int too_large() except -1:
    raise OverflowError("a number is too large for the compiled kernel")


cdef inline int64_t number(object value) except -1:
    """A token count as a machine word; OMEGA, the only float, is ANY."""
    cdef int64_t out
    if type(value) is float:
        return ANY
    out = value
    if out > BIG or out < 0:
        too_large()
    return out


cdef inline int64_t change(object value) except? -1:
    """What a transition does to a token count as a machine word."""
    cdef int64_t out = value
    if out > BIG or out < -BIG:
        too_large()
    return out


cdef struct Numbers:
    int *items
    int64_t size
    int64_t room


cdef inline int push(Numbers *numbers, int item) except -1:
    numbers.items = <int *>grown(numbers.items, &numbers.room, numbers.size + 1, sizeof(int))
    numbers.items[numbers.size] = item
    numbers.size += 1
    return 0


cdef inline void drop(Numbers *numbers, int item) noexcept:
    """Remove an item, found from the end; the order of the others stays."""
    cdef int64_t i = numbers.size - 1, j
    while i >= 0 and numbers.items[i] != item:
        i -= 1
    if i < 0:
        return
    for j in range(i, numbers.size - 1):
        numbers.items[j] = numbers.items[j + 1]
    numbers.size -= 1


cdef inline void free_all(Numbers *lists, int count) noexcept:
    """Free an array of lists, NULL for none."""
    cdef int i
    if lists != NULL:
        for i in range(count):
            free(lists[i].items)
        free(lists)
