# cython: language_level=3
"""Checked allocation. Every kernel allocates here and nowhere else, so that each request can be refused in a test.

A block is replaced, and its room counted, only when there is a new one: after a refusal the owner is what it was before, and
its destructor finds only blocks that are there.

`refuse` is for tests: in a build with RDMA_ROBUST_TEST_BUILD, a macro that setup.py defines where the environment has it,
the requests of a module number `first` to `first + count - 1` from now on are refused. It returns how many have been refused
since it was called last, and in every other build -1.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>

    #ifdef RDMA_ROBUST_TEST_BUILD
    static long long rdma_first, rdma_count, rdma_done;
    static long long rdma_refuse(long long first, long long count) {
        long long done = rdma_done;
        rdma_first = first, rdma_count = count, rdma_done = 0;
        return done;
    }
    static int rdma_refused(void) {
        if (rdma_count == 0 || --rdma_first > 0) return 0;
        rdma_count--;
        rdma_done++;
        return 1;
    }
    #else
    #define rdma_refuse(first, count) ((void)(first), (void)(count), -1)
    #define rdma_refused() 0
    #endif

    /* So much is left free behind a block: no line of memory has what two threads write. */
    #define RDMA_LINE 64

    static inline void *rdma_resized(void *block, size_t count, size_t size) {
        if (rdma_refused() || (size && count > (PTRDIFF_MAX - RDMA_LINE) / size)) return NULL;
        return realloc(block, count * size + RDMA_LINE);
    }

    static inline void *rdma_zeroed(size_t count, size_t size) {
        if (rdma_refused() || (size && count > (PTRDIFF_MAX - RDMA_LINE) / size)) return NULL;
        return calloc(count * size + RDMA_LINE, 1);
    }
    """
    long long refuse "rdma_refuse" (long long first, long long count) nogil
    void *try_resized "rdma_resized" (void *block, size_t count, size_t size) noexcept nogil
    void *try_zeroed "rdma_zeroed" (size_t count, size_t size) noexcept nogil


cdef inline int no_memory() except -1 with gil:
    raise MemoryError


cdef inline void *resized(void *block, size_t count, size_t size) except NULL nogil:
    """The block with room for `count` items, as realloc leaves it."""
    cdef void *out = try_resized(block, count, size)
    if out == NULL:
        no_memory()
    return out


cdef inline void *zeroed(size_t count, size_t size) except NULL nogil:
    """A new block of `count` items, all bits 0."""
    cdef void *out = try_zeroed(count, size)
    if out == NULL:
        no_memory()
    return out


cdef inline void *try_grown(void *block, int64_t *room, int64_t needed, size_t size) noexcept nogil:
    """The block with room for at least `needed` items, at least doubled if it is too small; NULL if there is no memory."""
    cdef int64_t wanted
    cdef void *out
    if needed <= room[0]:
        return block
    wanted = 2 * room[0] + 8
    if wanted < needed:
        wanted = needed
    out = try_resized(block, wanted, size)
    if out != NULL:
        room[0] = wanted
    return out


cdef inline void *grown(void *block, int64_t *room, int64_t needed, size_t size) except NULL nogil:
    """:func:`try_grown`, but for the MemoryError."""
    cdef void *out = try_grown(block, room, needed, size)
    if out == NULL:
        no_memory()
    return out
