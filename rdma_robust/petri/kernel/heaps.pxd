# cython: language_level=3
"""Heaps of nodes: those with most omegas first, among them the one with the least place."""

from libc.stdint cimport int64_t

from rdma_robust.native.memory cimport grown


cdef struct Entry:
    int omegas
    int place  # of the node in the order of creation, or its negative


cdef struct Heap:
    Entry *entries
    int64_t size
    int64_t room


cdef inline bint first(Entry a, Entry b) noexcept:
    return a.omegas > b.omegas or (a.omegas == b.omegas and a.place < b.place)


cdef inline int insert(Heap *heap, Entry entry) except -1:
    cdef int64_t i = heap.size, up
    heap.entries = <Entry *>grown(heap.entries, &heap.room, heap.size + 1, sizeof(Entry))
    heap.size += 1
    while i:
        up = (i - 1) >> 1
        if not first(entry, heap.entries[up]):
            break
        heap.entries[i] = heap.entries[up]
        i = up
    heap.entries[i] = entry
    return 0


cdef inline int extract(Heap *heap) noexcept:
    """Take the first entry out; return its place."""
    cdef int64_t i = 0, child
    cdef int out = heap.entries[0].place
    cdef Entry last
    heap.size -= 1
    last = heap.entries[heap.size]
    while True:
        child = 2 * i + 1
        if child >= heap.size:
            break
        if child + 1 < heap.size and first(heap.entries[child + 1], heap.entries[child]):
            child += 1
        if not first(heap.entries[child], last):
            break
        heap.entries[i] = heap.entries[child]
        i = child
    heap.entries[i] = last
    return out
