# cython: language_level=3
"""The markings that `_nodes` stores: two sets of places as bits (marked, omega), and lists of the finite numbers.

`words` is the length of such a set in words, the same for all nodes of a search.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    static inline int rdma_lowest_bit(unsigned long long bits) { return __builtin_ctzll(bits); }
    """
    int lowest "rdma_lowest_bit" (uint64_t bits) nogil


cdef struct Node:
    # Followed by the two sets and by the values and the places of the finite ones.
    int parent
    int transition
    int size
    int omegas
    bint live
    bint passed


cdef inline size_t node_bytes(int words, int size) noexcept:
    return sizeof(Node) + 2 * words * sizeof(uint64_t) + size * (sizeof(int64_t) + sizeof(int))


cdef inline uint64_t *marked(Node *node) noexcept:
    return <uint64_t *>(node + 1)


cdef inline uint64_t *omega(Node *node, int words) noexcept:
    return marked(node) + words


cdef inline int64_t *values_of(Node *node, int words) noexcept:
    return <int64_t *>(marked(node) + 2 * words)


cdef inline int *places_of(Node *node, int words) noexcept:
    return <int *>(values_of(node, words) + node.size)


cdef inline bint has(uint64_t *bits, int p) noexcept:
    return (bits[p >> 6] >> (p & 63)) & 1


cdef inline void put(uint64_t *bits, int p) noexcept:
    bits[p >> 6] |= <uint64_t>1 << (p & 63)


cdef inline void take(uint64_t *bits, int p) noexcept:
    bits[p >> 6] &= ~(<uint64_t>1 << (p & 63))


cdef inline bint below(Node *small, Node *large, int words) noexcept:
    """Whether a marking is at most another one."""
    cdef uint64_t *s = marked(small)
    cdef uint64_t *l = marked(large)
    cdef int64_t *values = values_of(small, words)
    cdef int64_t *larger = values_of(large, words)
    cdef int *at = places_of(small, words)
    cdef int *there = places_of(large, words)
    cdef uint64_t *unlimited = omega(large, words)
    cdef int i, j = 0
    for i in range(2 * words):
        if s[i] & ~l[i]:
            return False
    for i in range(small.size):
        if has(unlimited, at[i]):
            continue
        # It is there: it is marked in the larger one and not omega.
        while there[j] < at[i]:
            j += 1
        if larger[j] < values[i]:
            return False
    return True


cdef inline uint64_t hash_of(Node *node, int words) noexcept:
    """A hash of a marking without omegas."""
    cdef uint64_t out = 0
    cdef uint64_t *bits = marked(node)
    cdef int64_t *values = values_of(node, words)
    cdef int i
    for i in range(words):
        out = (out ^ bits[i]) * <uint64_t>0x9E3779B97F4A7C15
        out ^= out >> 29
    for i in range(node.size):
        out = (out ^ <uint64_t>values[i]) * <uint64_t>0xBF58476D1CE4E5B9
        out ^= out >> 32
    return out


cdef inline bint same(Node *a, Node *b, int words) noexcept:
    """Whether two markings without omegas are equal."""
    cdef int i
    if a.size != b.size:
        return False
    for i in range(words):
        if marked(a)[i] != marked(b)[i]:
            return False
    for i in range(a.size):
        if values_of(a, words)[i] != values_of(b, words)[i]:
            return False
    return True
