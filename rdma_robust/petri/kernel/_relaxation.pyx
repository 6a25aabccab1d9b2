# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled twin of `Relaxation` in `loops`. Raises OverflowError for numbers beyond 2**60; nothing ever wraps."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.native.memory cimport grown, refuse, zeroed
from rdma_robust.petri.kernel._rows cimport Rows
from rdma_robust.petri.kernel.numbers cimport number

OMEGA = float("inf")

# How many tokens a plan asks for at most, and what one costs at most: a place that something adds to always has a price,
# and a price times any number of tokens is still a number.
cdef double HUGE = 1e15
cdef double DEAREST = 1e280


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef struct Entry:
    double price
    int place
    int transition


cdef inline bint dearer(Entry a, double price, int place) noexcept:
    return not (a.price < price or (a.price == price and a.place <= place))


cdef class Relaxation:
    cdef Rows guards, gains, needing, targets, taken
    cdef int places, count, goals, size, found
    cdef int64_t room
    cdef int64_t *held
    cdef double *price
    cdef double *cost
    cdef double *need
    cdef int *missing
    cdef int *missing_at_start
    cdef int *best
    cdef int *order
    cdef Entry *heap

    def __cinit__(self, core):
        cdef int t
        self.places = len(core.initial)
        self.count = len(core.guards)
        self.goals = len(core.targets)
        self._take(core)
        self.held = <int64_t *>zeroed(self.places, sizeof(int64_t))
        self.price = <double *>zeroed(self.places, sizeof(double))
        self.need = <double *>zeroed(self.places, sizeof(double))
        self.cost = <double *>zeroed(self.count, sizeof(double))
        self.missing = <int *>zeroed(self.count, sizeof(int))
        self.missing_at_start = <int *>zeroed(self.count, sizeof(int))
        self.best = <int *>zeroed(self.places, sizeof(int))
        self.order = <int *>zeroed(self.places, sizeof(int))
        for t in range(self.count):
            self.missing_at_start[t] = self.guards.start[t + 1] - self.guards.start[t]

    def __dealloc__(self):
        free(self.held)
        free(self.price)
        free(self.need)
        free(self.cost)
        free(self.missing)
        free(self.missing_at_start)
        free(self.best)
        free(self.order)
        free(self.heap)

    cdef int _take(self, core) except -1:
        self.guards = Rows(core.guards)
        self.gains = Rows([[(p, k) for p, k in delta if k > 0] for delta in core.deltas])
        self.targets = Rows(core.targets)
        needing = [[] for _ in range(self.places)]
        for t, guard in enumerate(core.guards):
            for p, k in guard:
                needing[p].append((t, k))
        self.needing = Rows(needing)
        # What a transition takes from each place of its guard, in the order of the guard.
        losses = [{p: -k for p, k in delta if k < 0} for delta in core.deltas]
        self.taken = Rows([[(p, losses[t].get(p, 0)) for p, _ in guard] for t, guard in enumerate(core.guards)])
        return 0

    cdef int _push(self, double price, int place, int transition) except -1:
        cdef int i = self.size, up
        cdef Entry *heap
        self.heap = heap = <Entry *>grown(self.heap, &self.room, <int64_t>self.size + 1, sizeof(Entry))
        self.size += 1
        while i:
            up = (i - 1) >> 1
            if not dearer(heap[up], price, place):
                break
            heap[i] = heap[up]
            i = up
        heap[i].price = price
        heap[i].place = place
        heap[i].transition = transition
        return 0

    cdef Entry _pop(self) noexcept:
        cdef Entry *heap = self.heap
        cdef Entry out = heap[0], last
        cdef int i = 0, child
        self.size -= 1
        last = heap[self.size]
        while True:
            child = 2 * i + 1
            if child >= self.size:
                break
            if child + 1 < self.size and dearer(heap[child], heap[child + 1].price, heap[child + 1].place):
                child += 1
            if dearer(heap[child], last.price, last.place) or (
                heap[child].price == last.price and heap[child].place == last.place
            ):
                break
            heap[i] = heap[child]
            i = child
        heap[i] = last
        return out

    cdef int _offer(self, int t) except -1:
        """Offer what t adds for its price, where that is cheaper than what has been offered so far."""
        cdef int i, p
        for i in range(self.gains.start[t], self.gains.start[t + 1]):
            p = self.gains.index[i]
            if self.cost[t] < self.price[p]:
                self.price[p] = self.cost[t]
                self._push(self.cost[t], p, t)
        return 0

    cdef int _begin(self, tuple marking) except -1:
        """Hold the marking and offer what its transitions add."""
        cdef int i, t, p
        cdef tuple pair
        for i in range(self.places):
            self.price[i] = INFINITY
            self.best[i] = -1
        for t in range(self.count):
            self.cost[t] = 1.0
        memcpy(self.missing, self.missing_at_start, self.count * sizeof(int))
        for pair in marking:
            p = pair[0]
            self.held[p] = number(pair[1])
            for i in range(self.needing.start[p], self.needing.start[p + 1]):
                if self.held[p] >= self.needing.value[i]:
                    self.missing[self.needing.index[i]] -= 1
        self.size = 0
        self.found = 0
        for t in range(self.count):
            if not self.missing[t]:
                self._offer(t)
        return 0

    cdef int _prices(self, tuple marking) except -1:
        cdef int i, t, p
        cdef Entry entry
        self._begin(marking)
        while self.size:
            entry = self._pop()
            p = entry.place
            if self.best[p] >= 0:
                continue
            self.best[p] = entry.transition
            self.order[self.found] = p
            self.found += 1
            for i in range(self.needing.start[p], self.needing.start[p + 1]):
                if self.held[p] < self.needing.value[i]:
                    t = self.needing.index[i]
                    self.cost[t] = min(DEAREST, self.cost[t] + (self.needing.value[i] - self.held[p]) * entry.price)
                    self.missing[t] -= 1
                    if not self.missing[t]:
                        self._offer(t)
        return 0

    cdef int _clear(self, tuple marking) except -1:
        cdef tuple pair
        for pair in marking:
            self.held[<int>pair[0]] = 0
        memset(self.need, 0, self.places * sizeof(double))
        return 0

    cdef int _cheapest(self) noexcept:
        """The target that costs the least, -1 if all have a place that nothing adds to: only that has no finite price."""
        cdef int i, j, p, goal = -1
        cdef double cost, cheapest = INFINITY
        for i in range(self.goals):
            cost = 0
            for j in range(self.targets.start[i], self.targets.start[i + 1]):
                p = self.targets.index[j]
                if self.held[p] < self.targets.value[j]:
                    cost += (self.targets.value[j] - self.held[p]) * self.price[p]
            if cost < cheapest:
                goal = i
                cheapest = cost
        return goal

    def plan(self, tuple marking):
        try:
            self._prices(marking)
            goal = self._cheapest()
            return self._plan(goal) if goal >= 0 else (-1, [])
        finally:
            self._clear(marking)

    cdef tuple _plan(self, int goal):
        """The length of a plan for a target and its transitions, in the order in which they can be fired."""
        cdef int i, j, p, t
        cdef double missing, times, length = 0, wanted
        cdef list used = []
        for j in range(self.targets.start[goal], self.targets.start[goal + 1]):
            self.need[self.targets.index[j]] = self.targets.value[j]
        for i in range(self.found - 1, -1, -1):
            p = self.order[i]
            missing = self.need[p] - self.held[p]
            if missing <= 0:
                continue
            t = self.best[p]
            times = 1
            for j in range(self.gains.start[t], self.gains.start[t + 1]):
                if self.gains.index[j] == p:
                    times = <double><int64_t>((missing + self.gains.value[j] - 1) / self.gains.value[j])
                    break
            length += times
            used.append((t, <int64_t>times))
            for j in range(self.guards.start[t], self.guards.start[t + 1]):
                wanted = min(self.guards.value[j] + (times - 1) * self.taken.value[j], HUGE)
                if wanted > self.need[self.guards.index[j]]:
                    self.need[self.guards.index[j]] = wanted
        used.reverse()
        return int(length if length < HUGE else HUGE), used

    def limit(self, tuple marking):
        cdef int p
        cdef list out = []
        values = dict(marking)
        try:
            self._prices(marking)
        finally:
            self._clear(marking)
        for p in range(self.places):
            if self.best[p] >= 0:
                out.append((p, OMEGA))
            elif p in values:
                out.append((p, values[p]))
        return tuple(out)
