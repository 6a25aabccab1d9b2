# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled twin of `pair_table`: which conditions may hold together, as a matrix of bits.

The conditions are numbers here, so nothing can overflow.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from rdma_robust.errors import InternalError
from rdma_robust.native.memory cimport grown, refuse, zeroed
from rdma_robust.petri.kernel._rows cimport Rows
from rdma_robust.petri.kernel.numbers cimport Numbers, push


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class PairTable:
    cdef Rows guards, raised, lowered, makers
    cdef int size, words, at
    cdef int64_t next, clock, work_done
    cdef bint changed
    cdef uint64_t *rows
    cdef uint64_t *taken
    cdef uint64_t *common
    cdef uint64_t *after
    cdef int64_t *stamp
    cdef int64_t *seen
    cdef int *lowest
    cdef Numbers found, pairs

    def __cinit__(self, list lowest, list initial, list guards, list raised, list lowered):
        cdef int x, y, t
        self.size = len(lowest)
        self.words = (self.size + 63) // 64
        self.guards = Rows([[(x, 0) for x in guard] for guard in guards])
        self.raised = Rows(raised)
        self.lowered = Rows(lowered)
        makers = [[] for _ in range(self.size)]
        for t, changes in enumerate(raised):
            for x, y in changes:
                makers[x].append((t, y))
        self.makers = Rows(makers)
        self.rows = <uint64_t *>zeroed(<size_t>self.size * self.words, sizeof(uint64_t))
        self.taken = <uint64_t *>zeroed(<size_t>self.size * self.words, sizeof(uint64_t))
        self.common = <uint64_t *>zeroed(self.words, sizeof(uint64_t))
        self.after = <uint64_t *>zeroed(self.words, sizeof(uint64_t))
        self.stamp = <int64_t *>zeroed(self.size, sizeof(int64_t))
        self.seen = <int64_t *>zeroed(len(guards), sizeof(int64_t))
        self.lowest = <int *>zeroed(self.size, sizeof(int))
        for x, y in enumerate(lowest):
            self.lowest[x] = y
        self.clock = 1
        self.changed = True
        for x in initial:
            self.stamp[x] = 1
            for y in initial:
                put(self._row(x), y, True)

    def __dealloc__(self):
        free(self.rows)
        free(self.taken)
        free(self.common)
        free(self.after)
        free(self.stamp)
        free(self.seen)
        free(self.lowest)
        free(self.found.items)
        free(self.pairs.items)

    cdef inline uint64_t *_row(self, int x) noexcept:
        return self.rows + <size_t>x * self.words

    cdef inline uint64_t *_taken(self, int x) noexcept:
        return self.taken + <size_t>x * self.words

    def work(self, int64_t budget):
        """Go on for about so many words of the matrix; return whether the table is complete, and the words."""
        self.work_done = 0
        while self.work_done < budget:
            if self.at == self.guards.count:
                if not self.changed:
                    return True, self.work_done
                self.at = 0
                self.changed = False
                continue
            self.work_done += 1
            if self._awake(self.at):
                self.seen[self.at] = self.clock
                self.clock += 1
                self._fire(self.at)
            self.at += 1
        return False, self.work_done

    def may_hold(self, int x, int y):
        return has(self._row(x), y)

    cdef bint _awake(self, int t) noexcept:
        """Whether a row that the transition looks at has changed since it was last fired."""
        cdef int i
        cdef int64_t seen = self.seen[t]
        for i in range(self.guards.start[t], self.guards.start[t + 1]):
            if self.stamp[self.guards.index[i]] > seen:
                return True
        for i in range(self.raised.start[t], self.raised.start[t + 1]):
            if self.stamp[self.raised.value[i]] > seen:
                return True
        return False

    cdef void _fire(self, int t) noexcept:
        cdef int i, w, first = self.guards.start[t], end = self.guards.start[t + 1]
        cdef uint64_t *row = self._row(self.guards.index[first])
        memcpy(self.common, row, self.words * sizeof(uint64_t))
        for i in range(first + 1, end):
            row = self._row(self.guards.index[i])
            for w in range(self.words):
                self.common[w] &= row[w]
        self.work_done += self.words * (end - first)
        for i in range(first, end):
            if not has(self.common, self.guards.index[i]):
                return
        for i in range(self.raised.start[t], self.raised.start[t + 1]):
            if has(self.common, self.raised.value[i]):
                self._add(t, self.raised.index[i], self.raised.value[i])

    cdef void _add(self, int t, int x, int before) noexcept:
        """Add what may hold together with `x` after the transition, if `before` holds before it."""
        cdef int w, y
        cdef uint64_t new
        cdef uint64_t *row = self._row(before)
        for w in range(self.words):
            self.after[w] = self.common[w] & row[w]
        self._shift(self.raised, t, row)
        self._shift(self.lowered, t, row)
        row = self._row(x)
        self.work_done += 2 * self.words
        for w in range(self.words):
            new = self.after[w] & ~row[w]
            while new:
                y = 64 * w + lowest_bit(new)
                new &= new - 1
                put(row, y, True)
                put(self._row(y), x, True)
                self.stamp[y] = self.stamp[x] = self.clock
                self.changed = True
                self.work_done += 1

    cdef void _shift(self, Rows changes, int t, uint64_t *row) noexcept:
        """Turn what holds before the transition, in `after`, into what holds after it, on the places that it changes."""
        cdef int i, y
        for i in range(changes.start[t], changes.start[t + 1]):
            y = changes.value[i]
            put(self.after, changes.index[i], has(self.common, y) and has(row, y))

    cdef int _look_at(self, list conditions) except -1:
        self.found.size = 0
        for x in conditions:
            push(&self.found, x)
        return 0

    def excluding(self, list conditions):
        """Return two of the conditions that never hold together, the same twice if one never holds, or None."""
        cdef int x, y
        self._look_at(conditions)
        if self._excluding(&x, &y):
            return x, y
        return None

    cdef bint _excluding(self, int *left, int *right) noexcept:
        cdef int64_t i, j
        for i in range(self.found.size):
            if not has(self._row(self.found.items[i]), 0):
                left[0] = right[0] = self.found.items[i]
                return True
        for i in range(self.found.size):
            for j in range(i):
                if not has(self._row(self.found.items[i]), self.found.items[j]):
                    left[0] = self.found.items[j]
                    right[0] = self.found.items[i]
                    return True
        return False

    def choose(self, list conditions):
        """Choose a pair of the conditions that exclude each other, unless one is chosen; return whether there is one."""
        self._look_at(conditions)
        return bool(self._choose())

    cdef int _choose(self) except -1:
        cdef int64_t i, j
        cdef int x = 0, y = 0
        for i in range(self.found.size):
            for j in range(i + 1):
                if has(self._taken(self.found.items[i]), self.found.items[j]):
                    return True
        if not self._excluding(&x, &y):
            return False
        while x == y and x > self.lowest[x] and not has(self._row(x - 1), 0):
            x = y = x - 1
        while x != y and x > self.lowest[x] and not has(self._row(x - 1), y):
            x -= 1
        while x != y and y > self.lowest[y] and not has(self._row(y - 1), x):
            y -= 1
        if has(self._taken(x), y):
            return True
        self.pairs.items = <int *>grown(self.pairs.items, &self.pairs.room, self.pairs.size + 2, sizeof(int))
        self.pairs.items[self.pairs.size] = x
        self.pairs.items[self.pairs.size + 1] = y
        self.pairs.size += 2
        put(self._taken(x), y, True)
        put(self._taken(y), x, True)
        return True

    def close(self, int64_t budget):
        """Choose pairs until each predecessor of a chosen one is above one; about so many predecessors are looked at.

        Return whether that is done, and how many.
        """
        cdef int x, y
        self.work_done = 0
        while self.next < self.pairs.size:
            if self.work_done >= budget:
                return False, self.work_done
            x = self.pairs.items[self.next]
            y = self.pairs.items[self.next + 1]
            self.next += 2
            self._before(x, y)
            if x != y:
                self._before(y, x)
        return True, self.work_done

    cdef int _before(self, int x, int other) except -1:
        """Choose a pair for each predecessor by a transition that makes `x`."""
        cdef int i, j, t
        for i in range(self.makers.start[x], self.makers.start[x + 1]):
            t = self.makers.index[i]
            self.found.size = 0
            for j in range(self.guards.start[t], self.guards.start[t + 1]):
                self._ask(self.guards.index[j])
            self._ask(self.makers.value[i])
            if x != other:
                self._ask(self._earlier(t, other))
            if not self._choose():
                raise InternalError("a cone of a proof by pairs has a predecessor that is not excluded")
            self.work_done += 1
        return 0

    cdef int _ask(self, int x) except -1:
        if x:
            push(&self.found, x)
        return 0

    cdef int _earlier(self, int t, int x) noexcept:
        """The condition that must hold before a transition for `x` to hold after it."""
        cdef int i
        for i in range(self.raised.start[t], self.raised.start[t + 1]):
            if self.raised.index[i] == x:
                return self.raised.value[i]
        for i in range(self.lowered.start[t], self.lowered.start[t + 1]):
            if self.lowered.index[i] == x:
                return self.lowered.value[i]
        return x

    def chosen(self):
        """The chosen pairs in their order."""
        return [(self.pairs.items[i], self.pairs.items[i + 1]) for i in range(0, self.pairs.size, 2)]


cdef inline bint has(uint64_t *bits, int i) noexcept:
    return (bits[i >> 6] >> (i & 63)) & 1


cdef inline void put(uint64_t *bits, int i, bint value) noexcept:
    cdef uint64_t mask = <uint64_t>1 << (i & 63)
    if value:
        bits[i >> 6] |= mask
    else:
        bits[i >> 6] &= ~mask


cdef extern from *:
    """
    static inline int lowest_bit(unsigned long long bits) { return __builtin_ctzll(bits); }
    """
    int lowest_bit(uint64_t bits) nogil
