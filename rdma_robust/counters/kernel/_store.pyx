# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The states of a search, folded: a state is a pair of numbers, of pairs of numbers, and so on to the words of its fields.

Each pair and each word has its number in a table, once, however many states have it as a part. A state's own pair, its
root, is in a table apart, where its number is that of the state; with the parent, and with counters their values.
Most transitions change few words, so few pairs are looked up to fold a successor of the state unfolded last. Source:
Laarman, van de Pol and Weber, Parallel recursive state compression for free, 2011.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._packed cimport LOW, OMEGA, lowest
from rdma_robust.counters.kernel._pairs cimport Pairs, find, parent_of, word_at
from rdma_robust.native.memory cimport refuse, zeroed

def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Store:
    """No states yet. `counters` is how many there are. Raises MemoryError."""

    def __init__(self, int words, int counters, int64_t most):
        self.words, self.counters = words, counters
        self.extra = 1 + counters if counters else 0
        self.parts, self.roots = Pairs(most), Pairs(most, linked=True, extra=self.extra)
        self.scratch = <int64_t *>zeroed(counters, 8)
        self.max_states = most
        self.budget.bytes, self.budget.most = 0, 0x7FFFFFFFFFFFFFFF
        self.parts.account(&self.budget)
        self.roots.account(&self.budget)

    def __dealloc__(self):
        free(self.scratch)

    cdef void limit(self, int64_t max_states, int64_t max_bytes) noexcept nogil:
        """From now on store so many states, and take so many bytes, at most; nobody works now."""
        self.max_states, self.budget.most = max_states, max_bytes
        self.roots.most = min(self.parts.most, max_states)
        self.roots.room = min(self.roots.room, self.roots.most)

    cdef bint covered(self, uint64_t *counters, int64_t other) noexcept nogil:
        """Some state in the chain from `other` has counters at least as large."""
        cdef uint64_t *there
        while other >= 0:
            there = counters_of(self, other)
            if at_most(counters, there + 1, self.counters):
                return True
            other = <int64_t>(there[0] & LOW) - 1
        return False

    cdef void raise_counters(self, uint64_t *counters, uint64_t root, int64_t number, int64_t chain) noexcept nogil:
        """Set to omega what a cycle from an ancestor with the same root, from `number` back, increases."""
        cdef int64_t first = number + 1, at = number
        cdef uint64_t *there
        cdef int i
        while chain >= 0:
            there = counters_of(self, chain)
            if chain < first and at_most(there + 1, counters, self.counters):
                first = chain
            chain = <int64_t>(there[0] & LOW) - 1
        memcpy(self.scratch, counters, self.counters * 8)
        while at >= first:
            there = counters_of(self, at) + 1
            if word_at(self.roots, at)[0] == root and at_most(there, <uint64_t *>self.scratch, self.counters):
                for i in range(self.counters):
                    if <int64_t>there[i] < <int64_t>counters[i]:
                        counters[i] = <uint64_t>OMEGA
            if parent_of(self.roots, at)[0] == LOW:
                return
            at = parent_of(self.roots, at)[0]


cdef class Folder:
    """Folds and unfolds the states of a store, whose words are paired as packing.py says. Raises MemoryError."""

    def __init__(self, Store store, pairs):
        cdef int i
        self.store, self.words, self.parts, self.roots = store, store.words, store.parts, store.roots
        self.record = store.words + 1 + store.extra
        self.last = store.words + len(pairs) - 1
        self.sets = (self.last >> 6) + 1
        self.pair, self.above = <int32_t *>zeroed(2 * len(pairs), 4), <int32_t *>zeroed(self.last + 1, 4)
        for i, (one, other) in enumerate(pairs):
            self.pair[2 * i], self.pair[2 * i + 1] = one, other
            self.above[one] = self.above[other] = self.words + i
        self.base, self.ref = <uint32_t *>zeroed(self.last + 1, 4), <uint32_t *>zeroed(self.last + 1, 4)
        self.changed = <uint64_t *>zeroed(self.sets, 8)
        self.state = <uint64_t *>zeroed(self.record, 8)

    def __dealloc__(self):
        free(self.pair); free(self.above); free(self.base); free(self.ref); free(self.changed); free(self.state)

    cdef void unfold(self, int64_t number) noexcept nogil:
        """Make a record of a state, in `state`."""
        cdef int i
        cdef int32_t *pair
        cdef uint64_t halves = word_at(self.roots, number)[0]
        self.root = halves
        self.unfolded = True
        if self.store.counters:
            memcpy(self.state + self.words + 1, counters_of(self.store, number), self.store.extra * 8)
        if self.words == 1:
            self.state[0] = halves
            return
        for i in range(self.last, self.words - 1, -1):
            if i < self.last:
                halves = word_at(self.parts, self.base[i])[0]
            pair = self.pair + 2 * (i - self.words)
            self.base[pair[0]], self.base[pair[1]] = <uint32_t>(halves & LOW), <uint32_t>(halves >> 32)
        for i in range(self.words):
            self.state[i] = word_at(self.parts, self.base[i])[0]

    cdef bint fold(self, uint64_t *r, bint add, uint64_t *root) noexcept nogil:
        """Find the root of a record. False if some part of it is not there, with `add` if there is no room for it."""
        cdef uint32_t *ref = self.ref
        cdef int32_t *pair
        cdef int i, k
        cdef uint64_t halves
        if self.words == 1:
            root[0] = r[0]
            return True
        memcpy(ref, self.base, (self.last + 1) * 4)
        memset(self.changed, 0, self.sets * 8)
        root[0] = self.root
        for i in range(self.words):
            if r[i] != self.state[i] or not self.unfolded:
                if not self.part(r[i], add, &ref[i]):
                    return False
                self.changed[self.above[i] >> 6] |= <uint64_t>1 << (self.above[i] & 63)
        for k in range(self.sets):
            while self.changed[k]:
                i = 64 * k + lowest(self.changed[k])
                self.changed[k] &= self.changed[k] - 1
                pair = self.pair + 2 * (i - self.words)
                halves = ref[pair[0]] | <uint64_t>ref[pair[1]] << 32
                if i == self.last:
                    root[0] = halves
                    return True
                if not self.part(halves, add, &ref[i]):
                    return False
                self.changed[self.above[i] >> 6] |= <uint64_t>1 << (self.above[i] & 63)
        return True

    cdef void rebase(self, uint64_t *r, uint64_t root) noexcept nogil:
        """Take the record folded last for the one unfolded last: a record like it is folded by few of its parts."""
        memcpy(self.state, r, self.words * 8)
        memcpy(self.base, self.ref, (self.last + 1) * 4)
        self.root = root
        self.unfolded = True

    cdef inline bint part(self, uint64_t word, bint add, uint32_t *number) noexcept nogil:
        """Find the number of a part; False if it has none, with `add` if there is no room for it."""
        cdef int64_t found = find(self.parts, word)
        if found < 0 and add:
            found = self.parts.add(word, 0, &self.spare_parts)
            if found < -1:
                found = -2 - found
        number[0] = <uint32_t>found
        return found >= 0

    cdef int64_t insert(self, uint64_t *r, uint64_t root, int64_t old) noexcept nogil:
        """The number of a new state, as :meth:`Pairs.add` says; with counters before `old`, that with the same fields."""
        cdef uint64_t *counters
        cdef uint32_t parent = <uint32_t>(r[self.words] & LOW)
        cdef int64_t number
        if old < 0:
            number = self.roots.add(root, parent, &self.spare_roots)
        else:
            number = self.roots.renew(root, parent, &self.spare_roots)
        if number >= 0 and self.store.counters:
            counters = counters_of(self.store, number)
            counters[0] = <uint64_t>(old + 1) | r[self.words] >> 32 << 32
            memcpy(counters + 1, r + self.words + 2, self.store.counters * 8)
        return number


cdef inline bint at_most(uint64_t *small, uint64_t *large, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        if <int64_t>small[i] > <int64_t>large[i]:
            return False
    return True
