# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The markings of a compiled search: stored by number, found by equality in a hash table or under domination by an index.

After a MemoryError they can only be thrown away.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.native.memory cimport grown, refuse, resized, zeroed
from rdma_robust.petri.kernel.node cimport (
    Node, below, has, hash_of, lowest, marked, node_bytes, omega, places_of, put, same, values_of,
)
from rdma_robust.petri.kernel.numbers cimport Numbers, free_all, number, push

cdef double _INF = float("inf")


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Nodes:
    """The nodes, and the query: the marking that is being looked for, or is to be stored."""

    def __cinit__(self, core, bint exact=False):
        self.exact = exact
        self.places = len(core.initial)
        self.words = (self.places + 63) // 64
        self.holding = <Numbers *>zeroed(self.places, sizeof(Numbers))
        self.watching = <Numbers *>zeroed(self.places, sizeof(Numbers))
        self.query = <Node *>zeroed(1, node_bytes(self.words, self.places))
        self._start(core.initial)

    def __dealloc__(self):
        cdef int i
        for i in range(self.count):
            free(self.nodes[i])
        free(self.nodes)
        free_all(self.holding, self.places)
        free_all(self.watching, self.places)
        free(self.bare.items)
        free(self.table)
        free(self.query)

    @property
    def stored(self):
        return self.count

    def came(self, int node):
        """The parent of a node and the transition that leads to it from there; -1 for the root."""
        return self.nodes[node].parent, self.nodes[node].transition

    def marking(self, int node):
        cdef Node *row = self.nodes[node]
        cdef int p, i = 0
        cdef list out = []
        for p in range(self.places):
            if has(omega(row, self.words), p):
                out.append((p, _INF))
            elif has(marked(row), p):
                out.append((p, values_of(row, self.words)[i]))
                i += 1
        return tuple(out)

    def live_nodes(self):
        cdef int i
        return [i for i in range(self.count) if self.nodes[i].live]

    cdef int _start(self, initial) except -1:
        """Make the query the initial marking."""
        cdef int p, i = 0
        self.query.size = sum(1 for value in initial if value)
        self.query.parent = self.query.transition = -1
        for p, value in enumerate(initial):
            if value:
                put(marked(self.query), p)
                values_of(self.query, self.words)[i] = number(value)
                places_of(self.query, self.words)[i] = p
                i += 1
        return 0

    cdef int _keep(self) except -1:
        """Store the query as a node; return its number."""
        cdef int number = self.count
        self.nodes = <Node **>grown(self.nodes, &self.space, <int64_t>self.count + 1, sizeof(Node *))
        self.query.live = True
        self.query.passed = False
        self.nodes[number] = self._copy()
        self.count += 1
        self.live += 1
        if self.exact:
            self._enter(number)
        else:
            self._index(number)
        return number

    cdef int _index(self, int number) except -1:
        """Make a node findable by its places."""
        cdef int w, p, best = -1
        cdef uint64_t bits
        for w in range(self.words):
            bits = marked(self.query)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                push(&self.holding[p], number)
                if best < 0 or self.watching[p].size < self.watching[best].size:
                    best = p
        return push(&self.watching[best] if best >= 0 else &self.bare, number)

    cdef Node *_copy(self) except NULL:
        cdef size_t size = node_bytes(self.words, self.query.size)
        cdef Node *node = <Node *>resized(NULL, 1, size)
        memcpy(node, self.query, size)
        return node

    cdef bint _known(self, Node *node) noexcept:
        """Whether a marking is stored."""
        cdef uint64_t at
        if self.table == NULL:
            return False
        at = hash_of(node, self.words) & self.mask
        while self.table[at] >= 0:
            if same(node, self.nodes[self.table[at]], self.words):
                return True
            at = (at + 1) & self.mask
        return False

    cdef int _enter(self, int number) except -1:
        """Enter a node in the hash table, which is at most half full."""
        cdef uint64_t size
        cdef int i
        if self.table == NULL or 2 * <uint64_t>self.count > self.mask:
            size = 1024 if self.table == NULL else 4 * (self.mask + 1)
            self.table = <int *>resized(self.table, size, sizeof(int))
            memset(self.table, 0xFF, size * sizeof(int))
            self.mask = size - 1
            for i in range(number):
                self._put(i)
        self._put(number)
        return 0

    cdef void _put(self, int number) noexcept:
        cdef uint64_t at = hash_of(self.nodes[number], self.words) & self.mask
        while self.table[at] >= 0:
            at = (at + 1) & self.mask
        self.table[at] = number

    cdef int _rarest(self, Node *node) noexcept:
        """The place of a marking that the fewest nodes hold, -1 if it has none."""
        cdef int w, p, best = -1
        cdef uint64_t bits
        for w in range(self.words):
            bits = marked(node)[w]
            while bits:
                p = 64 * w + lowest(bits)
                bits &= bits - 1
                if best < 0 or self.holding[p].size < self.holding[best].size:
                    best = p
        return best

    cdef bint _covered(self, Node *node, int but) noexcept:
        """Whether a live node, but not `but`, is at least as large."""
        cdef int64_t i, kept = 0
        cdef int other, best = self._rarest(node)
        cdef Numbers *numbers
        cdef bint found = False
        if best < 0:
            return self.live > (1 if but >= 0 and self.nodes[but].live else 0)
        numbers = &self.holding[best]
        for i in range(numbers.size):
            other = numbers.items[i]
            if not self.nodes[other].live:
                continue
            numbers.items[kept] = other
            kept += 1
            if other != but and below(node, self.nodes[other], self.words):
                found = True
                break
        self.work_done += (i if found else numbers.size) >> 4
        if found and kept > i:
            return True
        if found:
            # What is left moves up, so that the dead ones are not met again.
            for i in range(i + 1, numbers.size):
                numbers.items[kept] = numbers.items[i]
                kept += 1
        numbers.size = kept
        return found

    cdef void _replace(self, int node) noexcept:
        """Nodes below a node are live no longer."""
        cdef int w, p
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

    cdef void _replace_in(self, Numbers *numbers, int node) noexcept:
        cdef int64_t i, kept = 0
        cdef int other
        for i in range(numbers.size):
            other = numbers.items[i]
            if not self.nodes[other].live:
                continue
            if other != node and below(self.nodes[other], self.nodes[node], self.words):
                self._kill(other)
                continue
            numbers.items[kept] = other
            kept += 1
        self.work_done += numbers.size >> 4
        numbers.size = kept

    cdef void _kill(self, int node) noexcept:
        self.nodes[node].live = False
        self.live -= 1
