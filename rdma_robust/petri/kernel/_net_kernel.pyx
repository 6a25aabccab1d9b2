# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled twin of `net_kernel`: the same classes over machine words.

Raises OverflowError for numbers beyond 2**60, where the Python twin has to be used instead; nothing ever wraps.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

cdef double _INF = INFINITY
OMEGA = float("inf")

cdef int64_t BIG = <int64_t>1 << 60
cdef int64_t ANY = (<int64_t>1 << 62)
cdef double HUGE = 1e15


cdef int64_t number(object value) except -1:
    """A token count as a machine word; OMEGA is ANY."""
    cdef int64_t out
    if type(value) is float:
        return ANY
    out = value
    if out > BIG or out < 0:
        raise OverflowError("a number is too large for the compiled kernel")
    return out


cdef int64_t change(object value) except? -1:
    cdef int64_t out = value
    if out > BIG or out < -BIG:
        raise OverflowError("a number is too large for the compiled kernel")
    return out


cdef void *grown(void *block, size_t size) except NULL:
    cdef void *out = realloc(block, size if size else 1)
    if out == NULL:
        raise MemoryError
    return out


cdef struct Row:
    int size
    int watched
    uint64_t mask
    int *places
    int64_t *values


cdef struct Numbers:
    int *items
    int size
    int room
    int live


cdef int push(Numbers *numbers, int item) except -1:
    if numbers.size == numbers.room:
        numbers.room = 2 * numbers.room + 4
        numbers.items = <int *>grown(numbers.items, numbers.room * sizeof(int))
    numbers.items[numbers.size] = item
    numbers.size += 1
    return 0


cdef void drop(Numbers *numbers, int item) noexcept:
    """Remove an item, found from the end; the order of the others stays."""
    cdef int i = numbers.size - 1, j
    while i >= 0 and numbers.items[i] != item:
        i -= 1
    if i < 0:
        return
    for j in range(i, numbers.size - 1):
        numbers.items[j] = numbers.items[j + 1]
    numbers.size -= 1


cdef class MarkingSet:
    cdef Row **rows
    cdef int room, places, members
    cdef Numbers *holding
    cdef Numbers *watching
    cdef Numbers empty
    cdef int64_t *scratch
    cdef int *query_places
    cdef int64_t *query_values
    cdef int query_size
    cdef uint64_t query_mask

    def __cinit__(self, int places):
        self.places = places
        self.room = 0
        self.members = 0
        self.rows = NULL
        self.holding = <Numbers *>calloc(places + 1, sizeof(Numbers))
        self.watching = <Numbers *>calloc(places + 1, sizeof(Numbers))
        self.scratch = <int64_t *>calloc(places + 1, sizeof(int64_t))
        self.query_places = <int *>malloc((places + 1) * sizeof(int))
        self.query_values = <int64_t *>malloc((places + 1) * sizeof(int64_t))
        if not (self.holding and self.watching and self.scratch and self.query_places and self.query_values):
            raise MemoryError

    def __dealloc__(self):
        cdef int i
        for i in range(self.room):
            if self.rows[i] != NULL:
                free(self.rows[i])
        free(self.rows)
        if self.holding and self.watching:
            for i in range(self.places):
                free(self.holding[i].items)
                free(self.watching[i].items)
        free(self.empty.items)
        free(self.holding)
        free(self.watching)
        free(self.scratch)
        free(self.query_places)
        free(self.query_values)

    def __len__(self):
        return self.members

    def has(self, int number):
        return 0 <= number < self.room and self.rows[number] != NULL

    def numbers(self):
        cdef int i
        return [i for i in range(self.room) if self.rows[i] != NULL]

    cdef int _load(self, tuple marking) except -1:
        cdef int i = 0
        cdef tuple pair
        self.query_mask = 0
        for pair in marking:
            self.query_places[i] = pair[0]
            self.query_values[i] = number(pair[1])
            self.query_mask |= (<uint64_t>1) << (self.query_places[i] & 63)
            i += 1
        self.query_size = i
        return 0

    def add(self, int number, tuple marking):
        cdef int i, p, best
        cdef Row *row
        self._load(marking)
        if number >= self.room:
            i = self.room
            self.room = max(2 * self.room, number + 16)
            self.rows = <Row **>grown(self.rows, self.room * sizeof(Row *))
            while i < self.room:
                self.rows[i] = NULL
                i += 1
        row = <Row *>grown(NULL, sizeof(Row) + self.query_size * (sizeof(int) + sizeof(int64_t)))
        row.size = self.query_size
        row.mask = self.query_mask
        row.values = <int64_t *>(<char *>row + sizeof(Row))
        row.places = <int *>(row.values + row.size)
        memcpy(row.values, self.query_values, row.size * sizeof(int64_t))
        memcpy(row.places, self.query_places, row.size * sizeof(int))
        self.rows[number] = row
        best = -1
        for i in range(row.size):
            p = row.places[i]
            push(&self.holding[p], number)
            if best < 0 or self.watching[p].size < self.watching[best].size:
                best = p
        row.watched = best
        push(&self.watching[best] if best >= 0 else &self.empty, number)
        self.members += 1

    def remove(self, int number):
        cdef Row *row = self.rows[number]
        cdef int i
        for i in range(row.size):
            drop(&self.holding[row.places[i]], number)
        drop(&self.watching[row.watched] if row.watched >= 0 else &self.empty, number)
        free(row)
        self.rows[number] = NULL
        self.members -= 1

    def below(self, tuple marking):
        cdef int i, j, k, found = -1
        cdef Row *row
        cdef Numbers *numbers
        cdef bint fits
        if self.empty.size:
            return self.empty.items[0]
        self._load(marking)
        for i in range(self.query_size):
            self.scratch[self.query_places[i]] = self.query_values[i]
        for i in range(self.query_size):
            numbers = &self.watching[self.query_places[i]]
            for j in range(numbers.size):
                row = self.rows[numbers.items[j]]
                if row.mask & ~self.query_mask:
                    continue
                fits = True
                for k in range(row.size):
                    if self.scratch[row.places[k]] < row.values[k]:
                        fits = False
                        break
                if fits:
                    found = numbers.items[j]
                    break
            if found >= 0:
                break
        for i in range(self.query_size):
            self.scratch[self.query_places[i]] = 0
        return found

    cdef bint _covers(self, Row *row) noexcept:
        cdef int i = 0, j
        if self.query_mask & ~row.mask or self.query_size > row.size:
            return False
        for j in range(self.query_size):
            while i < row.size and row.places[i] < self.query_places[j]:
                i += 1
            if i == row.size or row.places[i] != self.query_places[j] or row.values[i] < self.query_values[j]:
                return False
            i += 1
        return True

    cdef Numbers *_rarest(self) noexcept:
        cdef int i, p, best = self.query_places[0]
        for i in range(1, self.query_size):
            p = self.query_places[i]
            if self.holding[p].size < self.holding[best].size:
                best = p
        return &self.holding[best]

    def above(self, tuple marking, int but=-1):
        cdef int i
        cdef Numbers *numbers
        self._load(marking)
        if not self.query_size:
            for i in range(self.room):
                if self.rows[i] != NULL and i != but:
                    return i
            return -1
        numbers = self._rarest()
        for i in range(numbers.size):
            if numbers.items[i] != but and self._covers(self.rows[numbers.items[i]]):
                return numbers.items[i]
        return -1

    def all_above(self, tuple marking):
        cdef int i
        cdef Numbers *numbers
        self._load(marking)
        if not self.query_size:
            return self.numbers()
        numbers = self._rarest()
        return sorted(numbers.items[i] for i in range(numbers.size) if self._covers(self.rows[numbers.items[i]]))


cdef class Tree:
    cdef Row **rows
    cdef int *parents
    cdef int size, room

    def __cinit__(self):
        self.size = self.room = 0
        self.rows = NULL
        self.parents = NULL

    def __dealloc__(self):
        cdef int i
        for i in range(self.size):
            free(self.rows[i])
        free(self.rows)
        free(self.parents)

    cdef Row *_row(self, tuple marking) except NULL:
        cdef int i = 0
        cdef int size = len(marking)
        cdef tuple pair
        cdef int64_t value
        cdef Row *row
        for pair in marking:
            number(pair[1])
        row = <Row *>grown(NULL, sizeof(Row) + size * (sizeof(int) + sizeof(int64_t)))
        row.size = size
        row.mask = 0
        row.watched = -1
        row.values = <int64_t *>(<char *>row + sizeof(Row))
        row.places = <int *>(row.values + size)
        for pair in marking:
            row.places[i] = pair[0]
            row.values[i] = number(pair[1])
            row.mask |= (<uint64_t>1) << (row.places[i] & 63)
            i += 1
        return row

    def add(self, int parent, tuple marking):
        cdef Row *row = self._row(marking)
        if self.size == self.room:
            self.room = 2 * self.room + 64
            self.rows = <Row **>grown(self.rows, self.room * sizeof(Row *))
            self.parents = <int *>grown(self.parents, self.room * sizeof(int))
        self.rows[self.size] = row
        self.parents[self.size] = parent
        self.size += 1

    def replace(self, int node, tuple marking):
        cdef Row *row = self._row(marking)
        free(self.rows[node])
        self.rows[node] = row

    def smaller_ancestors(self, int node):
        cdef Row *large = self.rows[node]
        cdef Row *small
        cdef int at = self.parents[node], steps = 0, i, j
        cdef list found = []
        while at >= 0:
            steps += 1
            small = self.rows[at]
            if not (small.mask & ~large.mask) and small.size <= large.size:
                i = 0
                for j in range(small.size):
                    while i < large.size and large.places[i] < small.places[j]:
                        i += 1
                    if i == large.size or large.places[i] != small.places[j] or large.values[i] < small.values[j]:
                        i = -1
                        break
                    i += 1
                if i >= 0:
                    found.append(at)
            at = self.parents[at]
        return found, steps


cdef class Table:
    """Rows of (index, value) pairs, one after the other."""
    cdef int *start
    cdef int *index
    cdef int64_t *value

    def __cinit__(self, list rows):
        cdef int i = 0, at = 0
        cdef size_t total = 0
        for row in rows:
            total += len(row)
        self.start = <int *>malloc((len(rows) + 1) * sizeof(int))
        self.index = <int *>malloc((total + 1) * sizeof(int))
        self.value = <int64_t *>malloc((total + 1) * sizeof(int64_t))
        if not (self.start and self.index and self.value):
            raise MemoryError
        for row in rows:
            self.start[i] = at
            i += 1
            for p, k in row:
                self.index[at] = p
                self.value[at] = change(k)
                at += 1
        self.start[i] = at

    def __dealloc__(self):
        free(self.start)
        free(self.index)
        free(self.value)


cdef class Firing:
    cdef Table guards, deltas, waiting, producers
    cdef int places, count
    cdef int64_t *held
    cdef list always
    cdef int *stamp
    cdef int clock

    def __cinit__(self, core):
        self.places = len(core.initial)
        self.count = len(core.guards)
        self.held = <int64_t *>calloc(self.places + 1, sizeof(int64_t))
        self.stamp = <int *>calloc(self.count + 1, sizeof(int))
        self.clock = 0
        if not (self.held and self.stamp):
            raise MemoryError
        for k in core.initial:
            number(k)
        self.guards = Table(list(core.guards))
        self.deltas = Table(list(core.deltas))
        uses = [0] * self.places
        waiting = [[] for _ in range(self.places)]
        producers = [[] for _ in range(self.places)]
        self.always = []
        for guard in core.guards:
            for p, _ in guard:
                uses[p] += 1
        for t, guard in enumerate(core.guards):
            if guard:
                waiting[min((uses[p], p) for p, _ in guard)[1]].append((t, 0))
            else:
                self.always.append(t)
        for t, delta in enumerate(core.deltas):
            for p, gain in delta:
                if gain > 0:
                    producers[p].append((t, 0))
        self.waiting = Table(waiting)
        self.producers = Table(producers)

    def __dealloc__(self):
        free(self.held)
        free(self.stamp)

    cdef int _hold(self, tuple marking, bint clear) except -1:
        cdef tuple pair
        for pair in marking:
            self.held[<int>pair[0]] = 0 if clear else number(pair[1])
        return 0

    def successors(self, tuple marking):
        cdef int t, i
        cdef tuple pair
        cdef list out = []
        self._hold(marking, False)
        try:
            for t in self.always:
                self._fire(t, marking, out)
            for pair in marking:
                for i in range(self.waiting.start[<int>pair[0]], self.waiting.start[<int>pair[0] + 1]):
                    self._fire(self.waiting.index[i], marking, out)
        finally:
            self._hold(marking, True)
        return out

    cdef int _fire(self, int t, tuple marking, list out) except -1:
        cdef int i, p, at = 0, size = len(marking), end = self.deltas.start[t + 1]
        cdef int64_t value
        cdef bint moved = False
        cdef list after
        cdef tuple pair
        for i in range(self.guards.start[t], self.guards.start[t + 1]):
            if self.held[self.guards.index[i]] < self.guards.value[i]:
                return 0
        for i in range(self.deltas.start[t], end):
            if self.held[self.deltas.index[i]] != ANY:
                moved = True
                break
        if not moved:
            return 0
        after = []
        for i in range(self.deltas.start[t], end):
            p = self.deltas.index[i]
            while at < size:
                pair = <tuple>marking[at]
                if <int>pair[0] >= p:
                    break
                after.append(pair)
                at += 1
            if at < size:
                pair = <tuple>marking[at]
                if <int>pair[0] == p:
                    at += 1
                    if self.held[p] == ANY:
                        after.append(pair)
                        continue
            value = self.held[p] + self.deltas.value[i]
            if value > BIG:
                raise OverflowError("a number is too large for the compiled kernel")
            if value:
                after.append((p, value))
        while at < size:
            after.append(marking[at])
            at += 1
        out.append((t, tuple(after)))
        return 0

    def fire(self, int transition, tuple marking, int64_t times):
        cdef int i, at = 0, size = len(marking), p
        cdef int64_t held, loss
        cdef tuple pair
        cdef list after = []
        if times > BIG:
            times = BIG
        self._hold(marking, False)
        try:
            i = self.deltas.start[transition]
            for j in range(self.guards.start[transition], self.guards.start[transition + 1]):
                p = self.guards.index[j]
                held = self.held[p]
                if held < self.guards.value[j]:
                    return 0, marking
                while i < self.deltas.start[transition + 1] and self.deltas.index[i] < p:
                    i += 1
                if held != ANY and i < self.deltas.start[transition + 1] and self.deltas.index[i] == p:
                    loss = -self.deltas.value[i]
                    if loss > 0 and 1 + (held - self.guards.value[j]) // loss < times:
                        times = 1 + (held - self.guards.value[j]) // loss
            for i in range(self.deltas.start[transition], self.deltas.start[transition + 1]):
                p = self.deltas.index[i]
                while at < size and <int>(<tuple>marking[at])[0] < p:
                    after.append(marking[at])
                    at += 1
                if at < size and <int>(<tuple>marking[at])[0] == p:
                    at += 1
                    if self.held[p] == ANY:
                        after.append((p, _INF))
                        continue
                if times > 1 and (self.deltas.value[i] > BIG // times or self.deltas.value[i] < -(BIG // times)):
                    raise OverflowError("a number is too large for the compiled kernel")
                held = self.held[p] + times * self.deltas.value[i]
                if held > BIG:
                    raise OverflowError("a number is too large for the compiled kernel")
                if held:
                    after.append((p, held))
            while at < size:
                after.append(marking[at])
                at += 1
            return times, tuple(after)
        finally:
            self._hold(marking, True)

    def predecessors(self, tuple cone):
        cdef int t, i
        cdef tuple pair
        cdef list out = []
        self.clock += 1
        self._hold(cone, False)
        try:
            for pair in cone:
                for i in range(self.producers.start[<int>pair[0]], self.producers.start[<int>pair[0] + 1]):
                    t = self.producers.index[i]
                    if self.stamp[t] != self.clock:
                        self.stamp[t] = self.clock
                        out.append((t, self._before(t, cone)))
        finally:
            self._hold(cone, True)
        return out

    cdef tuple _before(self, int t, tuple cone):
        """Merge cone - delta with the guard; both vectors of t and the cone are sorted by place."""
        cdef int g = self.guards.start[t], d = self.deltas.start[t], at = 0, size = len(cone), p
        cdef int g_end = self.guards.start[t + 1], d_end = self.deltas.start[t + 1]
        cdef int last = self.places
        cdef int64_t value
        cdef list out = []
        cdef tuple pair
        while True:
            p = last
            if at < size:
                p = (<tuple>cone[at])[0]
            if g < g_end and self.guards.index[g] < p:
                p = self.guards.index[g]
            if d < d_end and self.deltas.index[d] < p:
                p = self.deltas.index[d]
            if p == last:
                return tuple(out)
            pair = None
            value = 0
            if at < size and <int>(<tuple>cone[at])[0] == p:
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
                raise OverflowError("a number is too large for the compiled kernel")
            if value > 0:
                out.append(pair if pair is not None and value == self.held[p] else (p, value))


cdef struct Entry:
    double price
    int place
    int transition


cdef class Relaxation:
    cdef Table guards, gains, needing, targets, taken
    cdef int places, count, goals, size, room, found
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
        self.guards = Table(list(core.guards))
        self.gains = Table([[(p, k) for p, k in delta if k > 0] for delta in core.deltas])
        self.targets = Table(list(core.targets))
        needing = [[] for _ in range(self.places)]
        for t, guard in enumerate(core.guards):
            for p, k in guard:
                needing[p].append((t, k))
        self.needing = Table(needing)
        # What a transition takes from each place of its guard, in the order of the guard.
        losses = [{p: -k for p, k in delta if k < 0} for delta in core.deltas]
        self.taken = Table([[(p, losses[t].get(p, 0)) for p, _ in guard] for t, guard in enumerate(core.guards)])
        self.held = <int64_t *>calloc(self.places + 1, sizeof(int64_t))
        self.price = <double *>malloc((self.places + 1) * sizeof(double))
        self.need = <double *>calloc(self.places + 1, sizeof(double))
        self.cost = <double *>malloc((self.count + 1) * sizeof(double))
        self.missing = <int *>malloc((self.count + 1) * sizeof(int))
        self.missing_at_start = <int *>malloc((self.count + 1) * sizeof(int))
        self.best = <int *>malloc((self.places + 1) * sizeof(int))
        self.order = <int *>malloc((self.places + 1) * sizeof(int))
        self.room = 64
        self.heap = <Entry *>malloc(self.room * sizeof(Entry))
        if not (self.held and self.price and self.need and self.cost and self.missing and self.missing_at_start
                and self.best and self.order and self.heap):
            raise MemoryError
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

    cdef int _push(self, double price, int place, int transition) except -1:
        cdef int i = self.size, up
        cdef Entry *heap
        if self.size == self.room:
            self.room *= 2
            self.heap = <Entry *>grown(self.heap, self.room * sizeof(Entry))
        heap = self.heap
        self.size += 1
        while i:
            up = (i - 1) >> 1
            if heap[up].price < price or (heap[up].price == price and heap[up].place <= place):
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
            if child + 1 < self.size and (
                heap[child + 1].price < heap[child].price
                or (heap[child + 1].price == heap[child].price and heap[child + 1].place < heap[child].place)
            ):
                child += 1
            if last.price < heap[child].price or (last.price == heap[child].price and last.place <= heap[child].place):
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

    cdef int _prices(self, tuple marking) except -1:
        cdef int i, t, p
        cdef tuple pair
        cdef Entry entry
        for i in range(self.places):
            self.price[i] = _INF
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
                    self.cost[t] += (self.needing.value[i] - self.held[p]) * entry.price
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

    def plan(self, tuple marking):
        cdef int i, j, p, t, goal = -1
        cdef double cost, cheapest = _INF, missing, times = 1, length = 0, wanted
        cdef list used = []
        self._prices(marking)
        for i in range(self.goals):
            cost = 0
            for j in range(self.targets.start[i], self.targets.start[i + 1]):
                p = self.targets.index[j]
                if self.held[p] < self.targets.value[j]:
                    cost += (self.targets.value[j] - self.held[p]) * self.price[p]
            if cost < cheapest:
                goal = i
                cheapest = cost
        if goal < 0:
            self._clear(marking)
            # A sum of prices can leave the range of a double although every place has a producer.
            return (-1, []) if not self._has_plan(marking) else (int(HUGE), [])
        for j in range(self.targets.start[goal], self.targets.start[goal + 1]):
            self.need[self.targets.index[j]] = self.targets.value[j]
        for i in range(self.found - 1, -1, -1):
            p = self.order[i]
            missing = self.need[p] - self.held[p]
            if missing <= 0:
                continue
            t = self.best[p]
            for j in range(self.gains.start[t], self.gains.start[t + 1]):
                if self.gains.index[j] == p:
                    times = <double><int64_t>((missing + self.gains.value[j] - 1) / self.gains.value[j])
                    break
            length += times
            used.append((t, <int64_t>times))
            for j in range(self.guards.start[t], self.guards.start[t + 1]):
                wanted = self.guards.value[j] + (times - 1) * self.taken.value[j]
                if wanted > HUGE:
                    wanted = HUGE
                if wanted > self.need[self.guards.index[j]]:
                    self.need[self.guards.index[j]] = wanted
        self._clear(marking)
        used.reverse()
        return int(length if length < HUGE else HUGE), used

    cdef bint _has_plan(self, tuple marking) except -1:
        """Whether every place of some target has enough tokens or a producer, prices aside."""
        cdef int i, j, p
        cdef bint all_there, any_goal = False
        for pair in marking:
            self.held[<int>pair[0]] = number(pair[1])
        for i in range(self.goals):
            all_there = True
            for j in range(self.targets.start[i], self.targets.start[i + 1]):
                p = self.targets.index[j]
                if self.held[p] < self.targets.value[j] and self.best[p] < 0:
                    all_there = False
            if all_there:
                any_goal = True
        self._clear(marking)
        return any_goal

    def limit(self, tuple marking):
        cdef int p
        cdef list out = []
        values = dict(marking)
        self._prices(marking)
        self._clear(marking)
        for p in range(self.places):
            if self.best[p] >= 0:
                out.append((p, OMEGA))
            elif p in values:
                out.append((p, values[p]))
        return tuple(out)
