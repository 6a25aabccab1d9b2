# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The Karp-Miller search of `forward`, largest markings first, compiled as a whole: markings as sets of bits and short lists
of numbers. Raises OverflowError for numbers beyond 2**60, where the search in Python has to be used instead. After a
MemoryError a search can only be thrown away.

With `exact`, for nets with finitely many markings of which hardly any is larger than another: breadth-first, without omegas,
and a marking is dropped if it is stored already, which a hash table tells.

A marking is dropped if a live one is at least as large. When one is expanded, all smaller ones stop being live, expanded or
not: it stands for them from then on, so the live markings of a finished search are an inductive invariant.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.native.memory cimport refuse, zeroed
from rdma_robust.petri.kernel._nodes cimport Nodes
from rdma_robust.petri.kernel._rows cimport Rows, Waiting
from rdma_robust.petri.kernel.heaps cimport Entry, Heap, extract, insert
from rdma_robust.petri.kernel.node cimport (
    Node, below, has, lowest, marked, node_bytes, omega, places_of, put, take, values_of,
)
from rdma_robust.petri.kernel.numbers cimport ANY, BIG, too_large

RUNNING = -1
ENDED = -2


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Forest(Nodes):
    cdef Rows guards, deltas, targets
    cdef Waiting waiting
    cdef readonly dict cycles
    cdef readonly int target
    cdef int turn
    cdef int64_t *held
    cdef Heap oldest, newest
    cdef bint begun
    cdef int waits

    def __cinit__(self, core, bint exact=False):
        self.cycles = {}
        self.target = -1
        self.guards = Rows(core.guards)
        self.deltas = Rows(core.deltas)
        self.targets = Rows(core.targets)
        self.waiting = Waiting(list(core.guards), self.places)
        self.held = <int64_t *>zeroed(self.places, sizeof(int64_t))

    def __dealloc__(self):
        free(self.held)
        free(self.oldest.entries)
        free(self.newest.entries)

    @property
    def frontier(self):
        return self.waits

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

    cdef int _add(self) except -1:
        """Store the query as a node that is to be expanded; return its number."""
        cdef int number = self._keep()
        if self.exact:
            self.waits += 1
            self.work_done += 1
        else:
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

    cdef int _expand(self, int number) except -3:
        """Accelerate a node, and add what can be reached from there; return a node that covers a target, or RUNNING."""
        if not self.exact and self._raise(number):
            if self._covered(self.nodes[number], number):
                self._kill(number)
                return RUNNING
            self._hold(self.nodes[number])
            if self._covers_target():
                self._release()
                return number
        else:
            self._hold(self.nodes[number])
        if not self.exact:
            self._replace(number)
        try:
            return self._successors(number)
        finally:
            self._release()

    cdef int _successors(self, int number) except -3:
        """Add what can be reached from a node, which is held; return a node that covers a target, or RUNNING."""
        cdef Node *node = self.nodes[number]
        cdef Rows at = self.waiting.at
        cdef int i, w, p, t, found
        cdef int64_t checks = 0
        cdef uint64_t bits
        for t in self.waiting.always:
            found = self._fire(number, t)
            if found >= 0:
                return found
        for w in range(self.words):
            bits = marked(node)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                checks += at.start[p + 1] - at.start[p]
                for i in range(at.start[p], at.start[p + 1]):
                    found = self._fire(number, at.index[i])
                    if found >= 0:
                        return found
        self.work_done += 5 + (checks >> 7)
        return RUNNING

    cdef void _hold(self, Node *node) noexcept:
        """Load a marking into the array of all places."""
        cdef int i, w, p
        cdef uint64_t bits
        for i in range(node.size):
            self.held[places_of(node, self.words)[i]] = values_of(node, self.words)[i]
        for w in range(self.words):
            bits = omega(node, self.words)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                self.held[p] = ANY

    cdef void _release(self) noexcept:
        memset(self.held, 0, self.places * sizeof(int64_t))

    cdef bint _covers_target(self) noexcept:
        cdef int i, j
        cdef bint fits
        for i in range(self.targets.count):
            fits = True
            for j in range(self.targets.start[i], self.targets.start[i + 1]):
                if self.held[self.targets.index[j]] < self.targets.value[j]:
                    fits = False
                    break
            if fits:
                self.target = i
                return True
        return False

    cdef bint _enabled(self, int t, int *more) except -1:
        """Whether t can be fired in what is held and changes it; how many finite places it adds (or less than none)."""
        cdef Rows guards = self.guards, deltas = self.deltas
        cdef int i
        cdef bint moved = False
        cdef int64_t value
        for i in range(guards.start[t], guards.start[t + 1]):
            if self.held[guards.index[i]] < guards.value[i]:
                return False
        more[0] = 0
        for i in range(deltas.start[t], deltas.start[t + 1]):
            value = self.held[deltas.index[i]]
            if value != ANY:
                moved = True
                if value + deltas.value[i] > BIG:
                    too_large()
                more[0] += (value == 0) - (value + deltas.value[i] == 0)
        return moved

    cdef void _ask_after(self, Node *node, int t, int more) noexcept:
        """Make the query the marking of `node`, which is held, after t, which adds `more` finite places."""
        cdef Rows deltas = self.deltas
        cdef Node *query = self.query
        cdef int i, p, at = 0, size = 0
        cdef int64_t *values
        cdef int64_t *old_values = values_of(node, self.words)
        cdef int *places
        cdef int *old_places = places_of(node, self.words)
        cdef int64_t value
        query.size = node.size + more
        query.omegas = node.omegas
        query.transition = t
        memcpy(marked(query), marked(node), 2 * self.words * sizeof(uint64_t))
        values, places = values_of(query, self.words), places_of(query, self.words)
        for i in range(deltas.start[t], deltas.start[t + 1]):
            p = deltas.index[i]
            while at < node.size and old_places[at] < p:
                values[size], places[size] = old_values[at], old_places[at]
                size += 1
                at += 1
            if self.held[p] == ANY:
                continue
            if at < node.size and old_places[at] == p:
                at += 1
            value = self.held[p] + deltas.value[i]
            if value:
                values[size], places[size] = value, p
                size += 1
                put(marked(query), p)
            else:
                take(marked(query), p)
        while at < node.size:
            values[size], places[size] = old_values[at], old_places[at]
            size += 1
            at += 1

    cdef int _fire(self, int number, int t) except -3:
        """Add what a transition leads to from the marking that is held, if it is new; return a node that covers a target."""
        cdef int more, found
        cdef bint covers
        if not self._enabled(t, &more):
            return RUNNING
        self.work_done += 1
        self._ask_after(self.nodes[number], t, more)
        self.query.parent = number
        if self._known(self.query) if self.exact else self._covered(self.query, -1):
            return RUNNING
        found = self._add()
        self._shift(t, 1)
        covers = self._covers_target()
        self._shift(t, -1)
        return found if covers else RUNNING

    cdef void _shift(self, int t, int times) noexcept:
        """Apply t to what is held."""
        cdef Rows deltas = self.deltas
        cdef int i
        for i in range(deltas.start[t], deltas.start[t + 1]):
            if self.held[deltas.index[i]] != ANY:
                self.held[deltas.index[i]] += times * deltas.value[i]

    cdef bint _raise(self, int number) except -1:
        """Set to omega what a path from an ancestor increases, if it can be repeated; return whether there is such a place.

        An ancestor that is smaller only since another one was found counts too, so this is repeated.
        """
        cdef Node *node = self.nodes[number]
        cdef Node *query = self.query
        cdef int at, depth = 0
        cdef list raised, cycles = []
        cdef bint again = True
        memcpy(query, node, node_bytes(self.words, node.size))
        while again:
            again = False
            at = node.parent
            while at >= 0:
                depth += 1
                if below(self.nodes[at], query, self.words):
                    raised = self._raised(at)
                    if raised:
                        again = True
                        cycles.append((at, tuple(raised)))
                        self._lift(raised)
                at = self.nodes[at].parent
        self.work_done += depth >> 5
        if not cycles:
            return False
        self.cycles[number] = cycles
        self.nodes[number] = self._copy()
        free(node)
        return True

    cdef list _raised(self, int ancestor):
        """The places (place, tokens, gain) that the query holds more on than an ancestor that it covers."""
        cdef Node *low = self.nodes[ancestor]
        cdef Node *query = self.query
        cdef int64_t *values = values_of(query, self.words)
        cdef int i, j = 0, p
        cdef int64_t before
        cdef list out = []
        for i in range(query.size):
            p = places_of(query, self.words)[i]
            before = 0
            if has(marked(low), p):
                while places_of(low, self.words)[j] < p:
                    j += 1
                before = values_of(low, self.words)[j]
            if values[i] > before:
                out.append((p, values[i], values[i] - before))
        return out

    cdef int _lift(self, list raised) except -1:
        """Make places of the query omega."""
        cdef Node *query = self.query
        cdef int i, kept = 0, size = query.size - len(raised), p
        cdef int64_t *values = values_of(query, self.words)
        cdef int *old = places_of(query, self.words)
        cdef int *new = <int *>(values + size)
        for p, _, _ in raised:
            put(omega(query, self.words), p)
        # The places begin where the values end, so they move down after the values; both only move to the front.
        for i in range(query.size):
            if not has(omega(query, self.words), old[i]):
                values[kept] = values[i]
                old[kept] = old[i]
                kept += 1
        for i in range(kept):
            new[i] = old[i]
        query.size = kept
        query.omegas += len(raised)
        return 0
