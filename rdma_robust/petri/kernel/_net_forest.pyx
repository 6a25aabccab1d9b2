# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The Karp-Miller search of `net_forward`, largest markings first, compiled as a whole: markings as sets of bits and short
lists of numbers. Raises OverflowError for numbers beyond 2**60, where the search in Python has to be used instead.

With `exact`, for nets with finitely many markings of which hardly any is larger than another: breadth-first, without omegas,
and a marking is dropped if it is stored already, which a hash table tells.

A marking is dropped if a live one is at least as large. When one is expanded, all smaller ones stop being live, expanded or
not: it stands for them from then on, so the live markings of a finished search are an inductive invariant.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

cdef double _INF = float("inf")
cdef int64_t BIG = <int64_t>1 << 60
cdef int64_t ANY = <int64_t>1 << 62

RUNNING = -1
ENDED = -2


cdef void *room(void *block, size_t size) except NULL:
    cdef void *out = realloc(block, size if size else 1)
    if out == NULL:
        raise MemoryError
    return out


cdef int64_t word(object value) except? -1:
    if not -BIG <= value <= BIG:
        raise OverflowError("a number is too large for the compiled kernel")
    return value


cdef struct Node:
    # Followed by two sets of places (marked, omega) and the values and the places of the finite ones.
    int parent
    int transition
    int size
    int omegas
    bint live
    bint passed


cdef struct Numbers:
    int *items
    int size
    int room


cdef struct Entry:
    int omegas
    int place  # of the node in the order of creation, or its negative


cdef struct Heap:
    Entry *entries
    int size
    int room


cdef int push(Numbers *numbers, int item) except -1:
    if numbers.size == numbers.room:
        numbers.room = 2 * numbers.room + 4
        numbers.items = <int *>room(numbers.items, numbers.room * sizeof(int))
    numbers.items[numbers.size] = item
    numbers.size += 1
    return 0


cdef inline bint first(Entry a, Entry b) noexcept:
    return a.omegas > b.omegas or (a.omegas == b.omegas and a.place < b.place)


cdef int insert(Heap *heap, Entry entry) except -1:
    cdef int i = heap.size, up
    if heap.size == heap.room:
        heap.room = 2 * heap.room + 64
        heap.entries = <Entry *>room(heap.entries, heap.room * sizeof(Entry))
    heap.size += 1
    while i:
        up = (i - 1) >> 1
        if not first(entry, heap.entries[up]):
            break
        heap.entries[i] = heap.entries[up]
        i = up
    heap.entries[i] = entry
    return 0


cdef int extract(Heap *heap) noexcept:
    cdef int i = 0, child, out = heap.entries[0].place
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


cdef inline uint64_t *marked(Node *node) noexcept:
    return <uint64_t *>(node + 1)


cdef inline bint has(uint64_t *bits, int p) noexcept:
    return (bits[p >> 6] >> (p & 63)) & 1


cdef class Rows:
    """Vectors of (place, number) pairs, one after the other."""
    cdef int *start
    cdef int *place
    cdef int64_t *value
    cdef int count

    def __cinit__(self, list rows):
        cdef int i = 0, at = 0
        cdef size_t total = sum(len(row) for row in rows)
        self.count = len(rows)
        self.start = <int *>malloc((self.count + 1) * sizeof(int))
        self.place = <int *>malloc((total + 1) * sizeof(int))
        self.value = <int64_t *>malloc((total + 1) * sizeof(int64_t))
        if not (self.start and self.place and self.value):
            raise MemoryError
        for row in rows:
            self.start[i] = at
            i += 1
            for p, k in row:
                self.place[at] = p
                self.value[at] = word(k)
                at += 1
        self.start[i] = at

    def __dealloc__(self):
        free(self.start)
        free(self.place)
        free(self.value)


cdef class Forest:
    cdef Rows guards, deltas, targets, waiting
    cdef list always
    cdef readonly dict cycles
    cdef readonly int target
    cdef int places, words, count, space, live, turn
    cdef Node **nodes
    cdef Node *query
    cdef Numbers *holding
    cdef Numbers *watching
    cdef Numbers bare
    cdef int64_t *held
    cdef Heap oldest, newest
    cdef int64_t work_done
    cdef bint begun, exact
    cdef int waits
    cdef int *table
    cdef uint64_t mask

    def __cinit__(self, core, bint exact=False):
        self.exact = exact
        self.places = len(core.initial)
        self.words = (self.places + 63) // 64
        self.guards = Rows(list(core.guards))
        self.deltas = Rows(list(core.deltas))
        self.targets = Rows(list(core.targets))
        self.cycles = {}
        self.target = -1
        self.holding = <Numbers *>calloc(self.places + 1, sizeof(Numbers))
        self.watching = <Numbers *>calloc(self.places + 1, sizeof(Numbers))
        self.held = <int64_t *>calloc(self.places + 1, sizeof(int64_t))
        self.query = <Node *>calloc(1, self._bytes(self.places))
        if not (self.holding and self.watching and self.held and self.query):
            raise MemoryError
        uses = [0] * self.places
        waiting = [[] for _ in range(self.places)]
        self.always = []
        for guard in core.guards:
            for p, _ in guard:
                uses[p] += 1
        for t, guard in enumerate(core.guards):
            if guard:
                waiting[min((uses[p], p) for p, _ in guard)[1]].append((t, 0))
            else:
                self.always.append(t)
        self.waiting = Rows(waiting)
        self._start(core.initial)

    def __dealloc__(self):
        cdef int i
        for i in range(self.count):
            free(self.nodes[i])
        free(self.nodes)
        if self.holding and self.watching:
            for i in range(self.places):
                free(self.holding[i].items)
                free(self.watching[i].items)
        free(self.holding)
        free(self.watching)
        free(self.bare.items)
        free(self.held)
        free(self.table)
        free(self.oldest.entries)
        free(self.newest.entries)
        free(self.query)

    @property
    def stored(self):
        return self.count

    @property
    def frontier(self):
        return self.waits

    def came(self, int node):
        """The parent of a node and the transition that leads to it from there; -1 for the root."""
        return self.nodes[node].parent, self.nodes[node].transition

    def marking(self, int node):
        cdef Node *row = self.nodes[node]
        cdef int p, i = 0
        cdef list out = []
        for p in range(self.places):
            if has(self._omega(row), p):
                out.append((p, _INF))
            elif has(marked(row), p):
                out.append((p, self._values(row)[i]))
                i += 1
        return tuple(out)

    def live_nodes(self):
        cdef int i
        return [i for i in range(self.count) if self.nodes[i].live]

    def work(self, int64_t budget):
        """Search for about `budget` elementary operations; return a node that covers `target`, RUNNING or ENDED, and the
        operations done.
        """
        cdef int node, found = RUNNING
        self.work_done = 0
        if not self.begun:
            self.begun = True
            node = self._add()
            self._hold(self.nodes[node])
            found = node if self._covers_target() else RUNNING
            self._release()
        while found == RUNNING and self.work_done < budget:
            node = self._pop()
            if node < 0:
                found = ENDED
            else:
                found = self._expand(node)
        return found, 2 * self.work_done

    cdef size_t _bytes(self, int size) noexcept:
        return sizeof(Node) + 2 * self.words * sizeof(uint64_t) + size * (sizeof(int64_t) + sizeof(int))

    cdef inline uint64_t *_omega(self, Node *node) noexcept:
        return marked(node) + self.words

    cdef inline int64_t *_values(self, Node *node) noexcept:
        return <int64_t *>(marked(node) + 2 * self.words)

    cdef inline int *_places(self, Node *node) noexcept:
        return <int *>(self._values(node) + node.size)

    cdef int _start(self, initial) except -1:
        """Make the query the initial marking."""
        cdef int p, i = 0
        self.query.size = sum(1 for value in initial if value)
        self.query.parent = self.query.transition = -1
        for p, value in enumerate(initial):
            if value:
                marked(self.query)[p >> 6] |= <uint64_t>1 << (p & 63)
                self._values(self.query)[i] = word(value)
                self._places(self.query)[i] = p
                i += 1
        return 0

    cdef bint _below(self, Node *small, Node *large) noexcept:
        cdef uint64_t *s = marked(small)
        cdef uint64_t *l = marked(large)
        cdef int64_t *values = self._values(small)
        cdef int64_t *larger = self._values(large)
        cdef int *at = self._places(small)
        cdef int *there = self._places(large)
        cdef uint64_t *omega = self._omega(large)
        cdef int i, j = 0
        for i in range(2 * self.words):
            if s[i] & ~l[i]:
                return False
        for i in range(small.size):
            if has(omega, at[i]):
                continue
            while there[j] < at[i]:
                j += 1
            if larger[j] < values[i]:
                return False
        return True

    cdef uint64_t _hash(self, Node *node) noexcept:
        cdef uint64_t out = 0
        cdef int i
        for i in range(self.words):
            out = (out ^ marked(node)[i]) * <uint64_t>0x9E3779B97F4A7C15
            out ^= out >> 29
        for i in range(node.size):
            out = (out ^ <uint64_t>self._values(node)[i]) * <uint64_t>0xBF58476D1CE4E5B9
            out ^= out >> 32
        return out

    cdef bint _same(self, Node *a, Node *b) noexcept:
        cdef int i
        if a.size != b.size:
            return False
        for i in range(self.words):
            if marked(a)[i] != marked(b)[i]:
                return False
        for i in range(a.size):
            if self._values(a)[i] != self._values(b)[i]:
                return False
        return True

    cdef bint _known(self, Node *node) noexcept:
        """Whether a marking is stored."""
        cdef uint64_t at
        if self.table == NULL:
            return False
        at = self._hash(node) & self.mask
        while self.table[at] >= 0:
            if self._same(node, self.nodes[self.table[at]]):
                return True
            at = (at + 1) & self.mask
        return False

    cdef int _enter(self, int number) except -1:
        """Enter a node in the hash table, which is at most half full."""
        cdef uint64_t at, size
        cdef int i
        if self.table == NULL or 2 * <uint64_t>self.count > self.mask:
            size = 1024 if self.table == NULL else 4 * (self.mask + 1)
            self.table = <int *>room(self.table, size * sizeof(int))
            memset(self.table, 0xFF, size * sizeof(int))
            self.mask = size - 1
            for i in range(number):
                self._put(i)
        self._put(number)
        return 0

    cdef int _put(self, int number) noexcept:
        cdef uint64_t at = self._hash(self.nodes[number]) & self.mask
        while self.table[at] >= 0:
            at = (at + 1) & self.mask
        self.table[at] = number
        return 0

    cdef bint _covered(self, Node *node, int but) noexcept:
        """Whether a live node, but not `but`, is at least as large."""
        cdef int i, w, p, kept, other, best = -1
        cdef uint64_t bits
        cdef Numbers *numbers
        for w in range(self.words):
            bits = marked(node)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                if best < 0 or self.holding[p].size < self.holding[best].size:
                    best = p
        if best < 0:
            return self.live > (1 if but >= 0 and self.nodes[but].live else 0)
        numbers = &self.holding[best]
        kept = 0
        for i in range(numbers.size):
            other = numbers.items[i]
            if not self.nodes[other].live:
                continue
            numbers.items[kept] = other
            kept += 1
            if other != but and self._below(node, self.nodes[other]):
                self.work_done += i >> 4
                if kept <= i:
                    # What is left moves up, so that the dead ones are not met again.
                    i += 1
                    while i < numbers.size:
                        numbers.items[kept] = numbers.items[i]
                        kept += 1
                        i += 1
                    numbers.size = kept
                return True
        self.work_done += numbers.size >> 4
        numbers.size = kept
        return False

    cdef int _replace(self, int node) noexcept:
        """Nodes below a node are live no longer."""
        cdef int i, w, p, kept, other
        cdef uint64_t bits
        cdef Node *large = self.nodes[node]
        self._replace_in(&self.bare, node)
        for w in range(self.words):
            bits = marked(large)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                if self.watching[p].size:
                    self._replace_in(&self.watching[p], node)
        return 0

    cdef int _replace_in(self, Numbers *numbers, int node) noexcept:
        cdef int i, other, kept = 0
        for i in range(numbers.size):
            other = numbers.items[i]
            if not self.nodes[other].live:
                continue
            if other != node and self._below(self.nodes[other], self.nodes[node]):
                self.nodes[other].live = False
                self.live -= 1
                continue
            numbers.items[kept] = other
            kept += 1
        self.work_done += numbers.size >> 4
        numbers.size = kept
        return 0

    cdef Node *_copy(self) except NULL:
        cdef size_t size = self._bytes(self.query.size)
        cdef Node *node = <Node *>room(NULL, size)
        memcpy(node, self.query, size)
        return node

    cdef int _add(self) except -1:
        """Store the query as a node; return its number."""
        cdef int w, p, best = -1, number = self.count
        cdef uint64_t bits
        if self.count == self.space:
            self.space = 2 * self.space + 64
            self.nodes = <Node **>room(self.nodes, self.space * sizeof(Node *))
        self.query.live = True
        self.query.passed = False
        self.nodes[number] = self._copy()
        self.count += 1
        self.live += 1
        if self.exact:
            self._enter(number)
            self.waits += 1
            self.work_done += 1
            return number
        for w in range(self.words):
            bits = marked(self.query)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                push(&self.holding[p], number)
                if best < 0 or self.watching[p].size < self.watching[best].size:
                    best = p
        push(&self.watching[best] if best >= 0 else &self.bare, number)
        self._wait(number)
        self.work_done += 2 + self.words
        return number

    cdef int _wait(self, int node) except -1:
        cdef Entry entry
        entry.omegas = self.nodes[node].omegas
        entry.place = node
        insert(&self.oldest, entry)
        entry.place = -node
        insert(&self.newest, entry)
        self.waits += 1
        return 0

    cdef int _pop(self) noexcept:
        """The next live node that no other covers; -1 if there is none. One in four is the oldest of the largest."""
        cdef int node
        if self.exact:
            if not self.waits:
                return -1
            self.waits -= 1
            return self.count - self.waits - 1
        while self.oldest.size and self.newest.size:
            self.turn = (self.turn + 1) & 3
            node = extract(&self.newest if self.turn else &self.oldest)
            if node < 0:
                node = -node
            self.work_done += 1
            if self.nodes[node].passed:
                continue
            self.nodes[node].passed = True
            self.waits -= 1
            if self.nodes[node].live:
                if not self._covered(self.nodes[node], node):
                    return node
                self._kill(node)
        return -1

    cdef int _kill(self, int node) noexcept:
        self.nodes[node].live = False
        self.live -= 1
        return 0

    cdef int _expand(self, int number) except -3:
        """Accelerate a node, and add what can be reached from there; return a node that covers a target, or RUNNING."""
        cdef int i, w, p, t, found
        cdef int64_t checks = 0
        cdef uint64_t bits
        cdef Node *node
        if not self.exact and self._raise(number):
            node = self.nodes[number]
            if self._covered(node, number):
                self._kill(number)
                return RUNNING
            self._hold(node)
            if self._covers_target():
                self._release()
                return number
        else:
            node = self.nodes[number]
            self._hold(node)
        if not self.exact:
            self._replace(number)
        try:
            for t in self.always:
                found = self._fire(number, t)
                if found >= 0:
                    return found
            for w in range(self.words):
                bits = marked(node)[w]
                while bits:
                    p = 64 * w + lowest(bits)
                    bits &= bits - 1
                    checks += self.waiting.start[p + 1] - self.waiting.start[p]
                    for i in range(self.waiting.start[p], self.waiting.start[p + 1]):
                        found = self._fire(number, self.waiting.place[i])
                        if found >= 0:
                            return found
        finally:
            self._release()
        self.work_done += 5 + (checks >> 7)
        return RUNNING

    cdef int _hold(self, Node *node) noexcept:
        """Load a marking into the array of all places."""
        cdef int i, w, p
        cdef uint64_t bits
        for i in range(node.size):
            self.held[self._places(node)[i]] = self._values(node)[i]
        for w in range(self.words):
            bits = self._omega(node)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                self.held[p] = ANY
        return 0

    cdef int _release(self) noexcept:
        memset(self.held, 0, self.places * sizeof(int64_t))
        return 0

    cdef bint _covers_target(self) noexcept:
        cdef int i, j
        cdef bint fits
        for i in range(self.targets.count):
            fits = True
            for j in range(self.targets.start[i], self.targets.start[i + 1]):
                if self.held[self.targets.place[j]] < self.targets.value[j]:
                    fits = False
                    break
            if fits:
                self.target = i
                return True
        return False

    cdef int _fire(self, int number, int t) except -3:
        """Add what a transition leads to from the marking that is held, if it is new; return a node that covers a target."""
        cdef Rows guards = self.guards, deltas = self.deltas
        cdef int i, p, at = 0, size = 0, end = deltas.start[t + 1], found
        cdef bint moved = False
        cdef Node *node = self.nodes[number]
        cdef Node *query = self.query
        cdef int64_t *values
        cdef int *places
        cdef int64_t value
        for i in range(guards.start[t], guards.start[t + 1]):
            if self.held[guards.place[i]] < guards.value[i]:
                return RUNNING
        for i in range(deltas.start[t], end):
            p = deltas.place[i]
            value = self.held[p]
            if value != ANY:
                moved = True
                if value + deltas.value[i] > BIG:
                    raise OverflowError("a number is too large for the compiled kernel")
                size += (value == 0) - (value + deltas.value[i] == 0)
        if not moved:
            return RUNNING
        self.work_done += 1
        query.size = node.size + size
        query.omegas = node.omegas
        query.parent = number
        query.transition = t
        memcpy(marked(query), marked(node), 2 * self.words * sizeof(uint64_t))
        values, places = self._values(query), self._places(query)
        size = 0
        for i in range(deltas.start[t], end):
            p = deltas.place[i]
            while at < node.size and self._places(node)[at] < p:
                values[size] = self._values(node)[at]
                places[size] = self._places(node)[at]
                size += 1
                at += 1
            if self.held[p] == ANY:
                continue
            if at < node.size and self._places(node)[at] == p:
                at += 1
            value = self.held[p] + deltas.value[i]
            if value:
                values[size] = value
                places[size] = p
                size += 1
                marked(query)[p >> 6] |= <uint64_t>1 << (p & 63)
            else:
                marked(query)[p >> 6] &= ~(<uint64_t>1 << (p & 63))
        while at < node.size:
            values[size] = self._values(node)[at]
            places[size] = self._places(node)[at]
            size += 1
            at += 1
        if self._known(query) if self.exact else self._covered(query, -1):
            return RUNNING
        found = self._add()
        for i in range(deltas.start[t], end):
            if self.held[deltas.place[i]] != ANY:
                self.held[deltas.place[i]] += deltas.value[i]
        at = self._covers_target()
        for i in range(deltas.start[t], end):
            if self.held[deltas.place[i]] != ANY:
                self.held[deltas.place[i]] -= deltas.value[i]
        return found if at else RUNNING

    cdef bint _raise(self, int number) except -1:
        """Set to omega what a path from an ancestor increases, if it can be repeated; return whether there is such a place.

        An ancestor that is smaller only since another one was found counts too, so this is repeated.
        """
        cdef Node *node = self.nodes[number]
        cdef Node *query = self.query
        cdef int at, i, depth = 0
        cdef list cycles = None
        cdef bint again = True
        memcpy(query, node, self._bytes(node.size))
        while again:
            again = False
            at = node.parent
            while at >= 0:
                depth += 1
                if self._below(self.nodes[at], query):
                    raised = self._raised(at)
                    if raised:
                        again = True
                        if cycles is None:
                            cycles = []
                        cycles.append((at, tuple(raised)))
                        self._lift(raised)
                at = self.nodes[at].parent
        self.work_done += depth >> 5
        if cycles is None:
            return False
        self.cycles[number] = cycles
        self.nodes[number] = self._copy()
        free(node)
        return True

    cdef list _raised(self, int ancestor):
        """The places (place, tokens, gain) that the query holds more on than an ancestor that it covers."""
        cdef Node *low = self.nodes[ancestor]
        cdef Node *query = self.query
        cdef int i, j = 0, p
        cdef int64_t before
        cdef list out = []
        for i in range(query.size):
            p = self._places(query)[i]
            before = 0
            if has(marked(low), p):
                while self._places(low)[j] < p:
                    j += 1
                before = self._values(low)[j]
            if self._values(query)[i] > before:
                out.append((p, self._values(query)[i], self._values(query)[i] - before))
        return out

    cdef int _lift(self, list raised) except -1:
        """Make places of the query omega."""
        cdef Node *query = self.query
        cdef int i, kept = 0, size = query.size - len(raised), p
        cdef int64_t *values = self._values(query)
        cdef int *old = self._places(query)
        cdef int *new = <int *>(values + size)
        for p, _, _ in raised:
            self._omega(query)[p >> 6] |= <uint64_t>1 << (p & 63)
        # The places begin where the values end, so they move down after the values; both only move to the front.
        for i in range(query.size):
            if not has(self._omega(query), old[i]):
                values[kept] = values[i]
                old[kept] = old[i]
                kept += 1
        for i in range(kept):
            new[i] = old[i]
        query.size = kept
        query.omegas += len(raised)
        return 0


cdef extern from *:
    """
    static inline int lowest(unsigned long long bits) { return __builtin_ctzll(bits); }
    """
    int lowest(uint64_t bits) nogil
