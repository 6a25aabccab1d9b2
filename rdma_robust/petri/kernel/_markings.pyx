# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Compiled twins of `MarkingSet` and `Tree` in `loops`: markings by number, under domination and with parents.

They raise OverflowError for numbers beyond 2**60, where the Python twins have to be used instead; nothing ever wraps. After
a MemoryError an object can only be thrown away.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from rdma_robust.native.memory cimport grown, refuse, resized, zeroed
from rdma_robust.petri.kernel.numbers cimport Numbers, drop, free_all, number, push


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef struct Row:
    # The arrays are in the same block, behind the struct.
    int size
    int watched
    uint64_t mask
    int *places
    int64_t *values


cdef Row *new_row(int size) except NULL:
    cdef Row *row = <Row *>resized(NULL, 1, sizeof(Row) + size * (sizeof(int) + sizeof(int64_t)))
    row.size = size
    row.watched = -1
    row.mask = 0
    row.values = <int64_t *>(<char *>row + sizeof(Row))
    row.places = <int *>(row.values + size)
    return row


cdef inline uint64_t bit(int place) noexcept:
    return <uint64_t>1 << (place & 63)


cdef bint covers(Row *large, int size, uint64_t mask, int *places, int64_t *values) noexcept:
    """Whether a row has at least these values at these places."""
    cdef int i = 0, j
    if mask & ~large.mask or size > large.size:
        return False
    for j in range(size):
        while i < large.size and large.places[i] < places[j]:
            i += 1
        if i == large.size or large.places[i] != places[j] or large.values[i] < values[j]:
            return False
        i += 1
    return True


cdef class MarkingSet:
    cdef Row **rows
    cdef int64_t room
    cdef int places, members
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
        self.holding = <Numbers *>zeroed(places, sizeof(Numbers))
        self.watching = <Numbers *>zeroed(places, sizeof(Numbers))
        self.scratch = <int64_t *>zeroed(places, sizeof(int64_t))
        self.query_places = <int *>zeroed(places, sizeof(int))
        self.query_values = <int64_t *>zeroed(places, sizeof(int64_t))

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.room):
            free(self.rows[i])
        free(self.rows)
        free_all(self.holding, self.places)
        free_all(self.watching, self.places)
        free(self.empty.items)
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
        if len(marking) > self.places:
            raise ValueError("a marking has more places than the net")
        self.query_mask = 0
        for pair in marking:
            self.query_places[i] = pair[0]
            self.query_values[i] = number(pair[1])
            self.query_mask |= bit(self.query_places[i])
            i += 1
        self.query_size = i
        return 0

    cdef int _make_room(self, int number) except -1:
        cdef int64_t i, room = self.room
        self.rows = <Row **>grown(self.rows, &self.room, <int64_t>number + 1, sizeof(Row *))
        for i in range(room, self.room):
            self.rows[i] = NULL
        return 0

    def add(self, int number, tuple marking):
        cdef int i, p, best = -1
        cdef Row *row
        self._load(marking)
        self._make_room(number)
        row = new_row(self.query_size)
        row.mask = self.query_mask
        memcpy(row.values, self.query_values, row.size * sizeof(int64_t))
        memcpy(row.places, self.query_places, row.size * sizeof(int))
        self.rows[number] = row
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
        cdef int i, found = -1
        if self.empty.size:
            return self.empty.items[0]
        self._load(marking)
        for i in range(self.query_size):
            self.scratch[self.query_places[i]] = self.query_values[i]
        for i in range(self.query_size):
            found = self._below_in(&self.watching[self.query_places[i]])
            if found >= 0:
                break
        for i in range(self.query_size):
            self.scratch[self.query_places[i]] = 0
        return found

    cdef int _below_in(self, Numbers *numbers) noexcept:
        """The first of these members that is at most what is in the scratch array, or -1."""
        cdef int64_t j
        cdef int k
        cdef Row *row
        cdef bint fits
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
                return numbers.items[j]
        return -1

    cdef bint _covers(self, int number) noexcept:
        return covers(self.rows[number], self.query_size, self.query_mask, self.query_places, self.query_values)

    cdef Numbers *_rarest(self) noexcept:
        cdef int i, p, best = self.query_places[0]
        for i in range(1, self.query_size):
            p = self.query_places[i]
            if self.holding[p].size < self.holding[best].size:
                best = p
        return &self.holding[best]

    def above(self, tuple marking, int but=-1):
        cdef int64_t i
        cdef Numbers *numbers
        self._load(marking)
        if not self.query_size:
            for i in range(self.room):
                if self.rows[i] != NULL and i != but:
                    return i
            return -1
        numbers = self._rarest()
        for i in range(numbers.size):
            if numbers.items[i] != but and self._covers(numbers.items[i]):
                return numbers.items[i]
        return -1

    def all_above(self, tuple marking):
        cdef int64_t i
        cdef Numbers *numbers
        self._load(marking)
        if not self.query_size:
            return self.numbers()
        numbers = self._rarest()
        return sorted(numbers.items[i] for i in range(numbers.size) if self._covers(numbers.items[i]))


cdef class Tree:
    cdef Row **rows
    cdef int *parents
    cdef int64_t row_room, parent_room
    cdef int size

    def __dealloc__(self):
        cdef int i
        for i in range(self.size):
            free(self.rows[i])
        free(self.rows)
        free(self.parents)

    cdef Row *_row(self, tuple marking) except NULL:
        cdef int i = 0
        cdef tuple pair
        cdef Row *row
        for pair in marking:
            number(pair[1])
        row = new_row(len(marking))
        for pair in marking:
            row.places[i] = pair[0]
            row.values[i] = number(pair[1])
            row.mask |= bit(row.places[i])
            i += 1
        return row

    def add(self, int parent, tuple marking):
        self.rows = <Row **>grown(self.rows, &self.row_room, <int64_t>self.size + 1, sizeof(Row *))
        self.parents = <int *>grown(self.parents, &self.parent_room, <int64_t>self.size + 1, sizeof(int))
        self.rows[self.size] = self._row(marking)
        self.parents[self.size] = parent
        self.size += 1

    def replace(self, int node, tuple marking):
        cdef Row *row = self._row(marking)
        free(self.rows[node])
        self.rows[node] = row

    def smaller_ancestors(self, int node):
        cdef Row *large = self.rows[node]
        cdef Row *small
        cdef int at = self.parents[node], steps = 0
        cdef list found = []
        while at >= 0:
            steps += 1
            small = self.rows[at]
            if covers(large, small.size, small.mask, small.places, small.values):
                found.append(at)
            at = self.parents[at]
        return found, steps
