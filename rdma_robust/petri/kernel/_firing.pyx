# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled twin of `Firing` in `loops`. Raises OverflowError for numbers beyond 2**60; nothing ever wraps."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free

from rdma_robust.native.memory cimport refuse, zeroed
from rdma_robust.petri.kernel._rows cimport Rows, Waiting
from rdma_robust.petri.kernel.numbers cimport ANY, BIG, number, too_large


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef inline int place_at(tuple marking, int at) noexcept:
    return <int>(<tuple>marking[at])[0]


cdef class Firing:
    cdef Rows guards, deltas, producers
    cdef Waiting waiting
    cdef int places, count
    cdef int64_t *held
    cdef int64_t *stamp
    cdef int64_t clock

    def __cinit__(self, core):
        self.places = len(core.initial)
        self.count = len(core.guards)
        self.held = <int64_t *>zeroed(self.places, sizeof(int64_t))
        self.stamp = <int64_t *>zeroed(self.count, sizeof(int64_t))
        for k in core.initial:
            number(k)
        self.guards = Rows(core.guards)
        self.deltas = Rows(core.deltas)
        self.waiting = Waiting(list(core.guards), self.places)
        producers = [[] for _ in range(self.places)]
        for t, delta in enumerate(core.deltas):
            for p, gain in delta:
                if gain > 0:
                    producers[p].append((t, 0))
        self.producers = Rows(producers)

    def __dealloc__(self):
        free(self.held)
        free(self.stamp)

    cdef int _hold(self, tuple marking) except -1:
        cdef tuple pair
        for pair in marking:
            self.held[<int>pair[0]] = number(pair[1])
        return 0

    cdef int _release(self, tuple marking) except -1:
        cdef tuple pair
        for pair in marking:
            self.held[<int>pair[0]] = 0
        return 0

    def successors(self, tuple marking):
        cdef int t, i, p
        cdef Rows at = self.waiting.at
        cdef tuple pair
        cdef list out = []
        try:
            self._hold(marking)
            for t in self.waiting.always:
                if self._enabled(t):
                    out.append((t, self._after(t, marking, 1)))
            for pair in marking:
                p = pair[0]
                for i in range(at.start[p], at.start[p + 1]):
                    if self._enabled(at.index[i]):
                        out.append((at.index[i], self._after(at.index[i], marking, 1)))
        finally:
            self._release(marking)
        return out

    cdef bint _enabled(self, int t) noexcept:
        """Whether what is held has the guard of t, and t changes some place of it that is not omega."""
        cdef int i
        for i in range(self.guards.start[t], self.guards.start[t + 1]):
            if self.held[self.guards.index[i]] < self.guards.value[i]:
                return False
        for i in range(self.deltas.start[t], self.deltas.start[t + 1]):
            if self.held[self.deltas.index[i]] != ANY:
                return True
        return False

    cdef tuple _after(self, int t, tuple marking, int64_t times):
        """The marking, which is held, after `times` times t; both are sorted by place."""
        cdef int i, p, at = 0, size = len(marking)
        cdef int64_t value, change
        cdef list after = []
        for i in range(self.deltas.start[t], self.deltas.start[t + 1]):
            p, change = self.deltas.index[i], self.deltas.value[i]
            while at < size and place_at(marking, at) < p:
                after.append(marking[at])
                at += 1
            if at < size and place_at(marking, at) == p:
                at += 1
                if self.held[p] == ANY:
                    after.append(marking[at - 1])
                    continue
            if times > 1 and (change > BIG // times or change < -(BIG // times)):
                too_large()
            value = self.held[p] + times * change
            if value > BIG:
                too_large()
            if value:
                after.append((p, value))
        while at < size:
            after.append(marking[at])
            at += 1
        return tuple(after)

    def fire(self, int transition, tuple marking, int64_t times):
        try:
            self._hold(marking)
            times = self._repeats(transition, min(times, BIG))
            return times, self._after(transition, marking, times) if times else marking
        finally:
            self._release(marking)

    cdef int64_t _repeats(self, int t, int64_t times) noexcept:
        """How often t can be fired in a row, up to `times`; guards and changes of t are sorted by place."""
        cdef int i = self.deltas.start[t], end = self.deltas.start[t + 1], j, p
        cdef int64_t held, loss
        for j in range(self.guards.start[t], self.guards.start[t + 1]):
            p = self.guards.index[j]
            held = self.held[p]
            if held < self.guards.value[j]:
                return 0
            while i < end and self.deltas.index[i] < p:
                i += 1
            if held != ANY and i < end and self.deltas.index[i] == p:
                loss = -self.deltas.value[i]
                if loss > 0 and 1 + (held - self.guards.value[j]) // loss < times:
                    times = 1 + (held - self.guards.value[j]) // loss
        return times

    def predecessors(self, tuple cone):
        cdef int t, i, p
        cdef Rows producers = self.producers
        cdef tuple pair
        cdef list out = []
        self.clock += 1
        try:
            self._hold(cone)
            for pair in cone:
                p = pair[0]
                for i in range(producers.start[p], producers.start[p + 1]):
                    t = producers.index[i]
                    if self.stamp[t] != self.clock:
                        self.stamp[t] = self.clock
                        out.append((t, self._before(t, cone)))
        finally:
            self._release(cone)
        return out

    cdef tuple _before(self, int t, tuple cone):
        """Merge cone - delta with the guard; both vectors of t and the cone are sorted by place."""
        cdef int g = self.guards.start[t], d = self.deltas.start[t], at = 0, size = len(cone), p
        cdef int g_end = self.guards.start[t + 1], d_end = self.deltas.start[t + 1]
        cdef int64_t value
        cdef list out = []
        cdef tuple pair
        while True:
            p = self.places
            if at < size:
                p = place_at(cone, at)
            if g < g_end and self.guards.index[g] < p:
                p = self.guards.index[g]
            if d < d_end and self.deltas.index[d] < p:
                p = self.deltas.index[d]
            if p == self.places:
                return tuple(out)
            pair = None
            value = 0
            if at < size and place_at(cone, at) == p:
                pair = <tuple>cone[at]
                value = self.held[p]
                at += 1
            if d < d_end and self.deltas.index[d] == p:
                value -= self.deltas.value[d]
                d += 1
            if g < g_end and self.guards.index[g] == p:
                if value < self.guards.value[g]:
                    value = self.guards.value[g]
                g += 1
            if value > BIG:
                too_large()
            if value > 0:
                out.append(pair if pair is not None and value == self.held[p] else (p, value))
