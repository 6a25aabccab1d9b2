# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The states of a search: records in chunks, by number and by their fields.

The hash table is open-addressing, of 32-bit entries: the record's number and, in the bits that leaves, a part of the hash.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from rdma_robust.counters.kernel._packed cimport LOW, OMEGA, equal_words, hash_words, prefetch
from rdma_robust.native.memory cimport refuse, try_resized, try_zeroed, zeroed

cdef uint64_t AHEAD = 16
"""Entries between the one that moves to a larger table and the one whose record is fetched meanwhile."""
cdef int64_t MOST_STATES = 0x5FFFFFFF


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Store:
    """No states yet. `counters` is how many there are. Raises MemoryError."""

    def __init__(self, int words, int counters):
        self.words, self.counters = words, counters
        self.record = words + 1 + (1 + counters if counters else 0)
        self.index_bits = 12
        self.scratch = <int64_t *>zeroed(counters, 8)
        self.table = <uint32_t *>zeroed(1 << 12, sizeof(uint32_t))
        self.mask = (1 << 12) - 1
        self.bytes = (1 << 12) * sizeof(uint32_t)
        self.max_bytes = 0x7FFFFFFFFFFFFFFF

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.chunks):
            free(self.chunk[i])
        free(self.chunk); free(self.table); free(self.scratch)

    cdef int64_t find(self, uint64_t *r, uint64_t h, uint64_t *place) noexcept nogil:
        """The newest record with the fields of `r`, whose hash is `h`, or -1; where in the table it is or belongs."""
        cdef uint64_t i = h & self.mask
        cdef uint32_t index_mask = (<uint32_t>1 << self.index_bits) - 1
        cdef uint32_t tag = <uint32_t>(h >> 32) & ~index_mask
        cdef uint32_t entry
        while True:
            entry = self.table[i]
            if entry == 0:
                place[0] = i
                return -1
            if (entry & ~index_mask) == tag and equal_words(record_at(self, (entry & index_mask) - 1), r, self.words):
                place[0] = i
                return (entry & index_mask) - 1
            i = (i + 1) & self.mask

    cdef bint insert(self, uint64_t *r, uint64_t h, int64_t old, uint64_t place) noexcept nogil:
        """Store a new record where `find` said, before `old`; False if that would take too much memory."""
        cdef uint64_t *to
        cdef uint32_t index_mask = (<uint32_t>1 << self.index_bits) - 1
        if self.states == self.chunks * CHUNK and not self.new_chunk():
            return False
        to = record_at(self, self.states)
        memcpy(to, r, self.record * 8)
        if self.counters:
            to[self.words + 1] = <uint64_t>(old + 1)
        self.states += 1
        self.table[place] = (<uint32_t>(h >> 32) & ~index_mask) | <uint32_t>self.states
        return <uint64_t>self.states * 4 < (self.mask + 1) * 3 or self.rehash()

    cdef bint covered(self, uint64_t *r, int64_t other) noexcept nogil:
        """Some record in the chain from `other` has counters at least as large."""
        while other >= 0:
            if self.at_most(r, record_at(self, other)):
                return True
            other = <int64_t>record_at(self, other)[self.words + 1] - 1
        return False

    cdef bint at_most(self, uint64_t *small, uint64_t *large) noexcept nogil:
        cdef int i
        for i in range(self.words + 2, self.record):
            if <int64_t>small[i] > <int64_t>large[i]:
                return False
        return True

    cdef void raise_counters(self, uint64_t *r, int64_t number, int64_t chain) noexcept nogil:
        """Set to omega what a cycle from an ancestor with the same fields to `r` increases."""
        cdef int64_t first = number + 1, at
        cdef uint64_t *a
        cdef int i
        cdef bint smaller
        while chain >= 0:
            if self.at_most(record_at(self, chain), r) and chain < first:
                first = chain
            chain = <int64_t>record_at(self, chain)[self.words + 1] - 1
        for i in range(self.counters):
            self.scratch[i] = <int64_t>r[self.words + 2 + i]
        at = number
        while at >= first:
            a = record_at(self, at)
            if equal_words(a, r, self.words):
                smaller = True
                for i in range(self.counters):
                    if <int64_t>a[self.words + 2 + i] > self.scratch[i]:
                        smaller = False
                if smaller:
                    for i in range(self.words + 2, self.record):
                        if <int64_t>a[i] < <int64_t>r[i]:
                            r[i] = <uint64_t>OMEGA
            if a[self.words] & LOW == LOW:
                return
            at = <int64_t>(a[self.words] & LOW)

    cdef bint new_chunk(self) noexcept nogil:
        """Make room for more records; False if that would take too much memory."""
        cdef int64_t size = CHUNK * self.record * 8, room = 2 * self.chunk_room + 64
        cdef void *made
        if self.states >= MOST_STATES or self.bytes + size > self.max_bytes:
            return False
        if self.chunks == self.chunk_room:
            made = try_resized(self.chunk, room, sizeof(uint64_t *))
            if made == NULL:
                return False
            self.chunk = <uint64_t **>made
            self.chunk_room = room
        made = try_resized(NULL, CHUNK * self.record, 8)
        if made == NULL:
            return False
        self.chunk[self.chunks] = <uint64_t *>made
        self.chunks += 1
        self.bytes += size
        return True

    cdef bint rehash(self) noexcept nogil:
        """Double the hash table; False if that would take too much memory."""
        cdef uint64_t old = self.mask + 1, h, i, j
        cdef uint32_t entry, was = (<uint32_t>1 << self.index_bits) - 1
        cdef uint32_t *smaller = self.table
        cdef uint32_t *larger
        if self.bytes + <int64_t>old * 8 > self.max_bytes:
            return False
        larger = <uint32_t *>try_zeroed(2 * old, sizeof(uint32_t))
        if larger == NULL:
            return False
        self.mask = 2 * old - 1
        self.index_bits += 1
        for i in range(old):
            entry = smaller[i + AHEAD] & was if i + AHEAD < old else 0
            if entry:
                prefetch(record_at(self, entry - 1))
            entry = smaller[i] & was
            if entry:
                h = hash_words(record_at(self, entry - 1), self.words)
                j = h & self.mask
                while larger[j]:
                    j = (j + 1) & self.mask
                larger[j] = (<uint32_t>(h >> 32) & ~((<uint32_t>1 << self.index_bits) - 1)) | entry
        self.table = larger
        self.bytes += <int64_t>old * 4
        free(smaller)
        return True
