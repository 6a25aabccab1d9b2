# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A look ahead from a packed state: whether, process by process, some goal may still be met.

It follows a pruner's tables, whose columns are named below; pruner.py says what they mean.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._packed cimport lowest, made_fields
from rdma_robust.native.memory cimport refuse, resized, zeroed


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Look:
    """The tables of a pruner for records with these fields. Raises MemoryError."""

    def __init__(
        self, int words, list fields, list locations, int64_t[::1] header, int64_t[::1] moves, int64_t[::1] pairs,
        int64_t[::1] kinds, int64_t[::1] guards, uint64_t[::1] rows,
    ):
        cdef int i
        self.words, self.fields, self.processes = words, len(fields), len(locations)
        self.field = made_fields(fields)
        self.value = <int64_t *>zeroed(self.fields, 8)
        self.written, self.any_value = <uint8_t *>zeroed(self.fields, 1), <uint8_t *>zeroed(self.fields, 1)
        self.header, self.move, self.pair = _copy(header), _copy(moves), _copy(pairs)
        self.kind, self.kind_guard = _copy(kinds), _copy(guards)
        self.moves = moves.shape[0] // MOVE_COLUMNS
        self.row = (self.moves + 63) // 64
        self.rows = <uint64_t *>zeroed(rows.shape[0], 8)
        if rows.shape[0]:
            memcpy(self.rows, &rows[0], rows.shape[0] * 8)
        self.sets = <uint64_t *>zeroed(4 * self.row, 8)
        self._make_places(locations)

    def _make_places(self, list locations):
        """Room for the locations that are reached, and the first move from each."""
        cdef int p
        cdef int64_t i, every = 0
        cdef int64_t *m
        self.locations = <int64_t *>zeroed(self.processes, 8)
        self.reached = <uint8_t **>zeroed(self.processes, sizeof(uint8_t *))
        self.also = <uint8_t **>zeroed(self.processes, sizeof(uint8_t *))
        self.first = <int64_t **>zeroed(self.processes, sizeof(int64_t *))
        for p in range(self.processes):
            self.locations[p] = locations[p] + 1
            every += locations[p] + 1
            self.reached[p], self.also[p] = <uint8_t *>zeroed(locations[p] + 1, 1), <uint8_t *>zeroed(locations[p] + 1, 1)
            self.first[p] = <int64_t *>zeroed(locations[p] + 1, 8)
            memset(self.first[p], 0xFF, (locations[p] + 1) * 8)
        self.places = <int64_t *>zeroed(2 * every, 8)
        self.waiting = <int64_t *>zeroed(self.moves, 8)
        for i in range(self.moves - 1, -1, -1):
            m = self.move + i * MOVE_COLUMNS
            m[NEXT] = self.first[m[PROCESS]][m[SOURCE]]
            self.first[m[PROCESS]][m[SOURCE]] = i

    def __dealloc__(self):
        cdef int p
        for p in range(self.processes):
            if self.reached != NULL:
                free(self.reached[p])
            if self.also != NULL:
                free(self.also[p])
            if self.first != NULL:
                free(self.first[p])
        free(self.reached); free(self.also); free(self.first); free(self.locations); free(self.places); free(self.waiting)
        free(self.field); free(self.value); free(self.written); free(self.any_value)
        free(self.header); free(self.move); free(self.pair)
        free(self.kind); free(self.kind_guard); free(self.rows); free(self.sets)

    def stand_anywhere(self, int process):
        """From now on let a process stand at all of its locations."""
        memset(self.also[process], 1, self.locations[process])

    def dead(self, state, int64_t gone):
        """Whether no goal can be met from a state of some kind, given field by field; those in `gone` are gone too."""
        cdef int i
        for i in range(self.fields):
            self.value[i] = state[i]
        self.value[self.header[GONE_FIELD]] |= gone
        return self.look()

    cdef bint look(self) noexcept nogil:
        """No goal can be met. Then those locations are marked that are reached, and the first of `waiting` are blocked."""
        cdef int64_t number = self.value[self.header[KIND_FIELD]], gone, i, k, goals = 0
        cdef int64_t *kind = self.kind + (number - 1) * KIND_COLUMNS
        cdef uint64_t *found = self.sets + 2 * self.row
        cdef uint64_t *wanted = self.rows + (3 * self.moves + 2 * (number - 1)) * self.row
        cdef uint64_t word
        gone = self.value[self.header[GONE_FIELD]]
        self.follow(gone)
        if gone >> kind[KIND_PROCESS] & 1:
            return True
        for k in range(self.row):
            found[k] = 0
            word = wanted[k]
            while word:
                i = 64 * k + lowest(word)
                word &= word - 1
                if self.possible(kind, i) > 0:
                    found[k] |= <uint64_t>1 << (i & 63)
                    goals += 1
        return goals == 0 or not (self.value[self.header[MET_FIELD]] or self.spreads(kind, wanted + self.row))

    cdef inline bint marked(self, int64_t first, int64_t last) noexcept nogil:
        """Some variable has a bit that one of these pairs looks for."""
        cdef int64_t i
        for i in range(first, last):
            if self.value[self.pair[2 * i]] & self.pair[2 * i + 1]:
                return True
        return False

    cdef void follow(self, int64_t gone) noexcept nogil:
        """Take every move that can be reached; those taken, and of them those not barred, are the first two sets."""
        cdef int64_t i, n = 0, waiting = 0, kept
        cdef int64_t *m
        cdef int p, changed
        memset(self.sets, 0, 2 * self.row * 8)
        memcpy(self.written, self.any_value, self.fields)
        for p in range(self.processes):
            memcpy(self.reached[p], self.also[p], self.locations[p])
            if gone >> p & 1:
                continue
            self.reached[p][self.value[p]] = 1
            for i in range(self.locations[p]):
                if self.reached[p][i] and self.first[p][i] >= 0:
                    self.places[n], self.places[n + 1] = p, i
                    n += 2
        while True:
            while n:
                n -= 2
                i = self.first[self.places[n]][self.places[n + 1]]
                while i >= 0:
                    m = self.move + i * MOVE_COLUMNS
                    if m[GUARDED] and not self.written[m[CELL]] and not holds(self.value[m[CELL]], m[LEAST], m[ALLOWED]):
                        self.waiting[waiting] = i
                        waiting += 1
                    else:
                        n = self.take(i, m, n)
                    i = m[NEXT]
            changed, kept = 0, 0
            for i in range(waiting):
                m = self.move + self.waiting[i] * MOVE_COLUMNS
                if self.written[m[CELL]]:
                    n = self.take(self.waiting[i], m, n)
                    changed = 1
                else:
                    self.waiting[kept] = self.waiting[i]
                    kept += 1
            waiting = kept
            if not changed:
                self.blocked = waiting
                return

    cdef inline int64_t take(self, int64_t i, int64_t *m, int64_t n) noexcept nogil:
        """Take a move if it can be passed whatever it reads; return the new number of entries in `places`."""
        cdef bint free_move = not self.marked(m[BARS], m[MARKS])
        if not free_move and not m[PASSES]:
            return n
        self.sets[i >> 6] |= <uint64_t>1 << (i & 63)
        if free_move:
            self.sets[self.row + (i >> 6)] |= <uint64_t>1 << (i & 63)
            if m[WRITES]:
                self.written[m[CELL]] = 1
        if not self.reached[m[PROCESS]][m[TARGET]]:
            self.reached[m[PROCESS]][m[TARGET]] = 1
            self.places[n], self.places[n + 1] = m[PROCESS], m[TARGET]
            n += 2
        return n

    cdef int possible(self, int64_t *kind, int64_t goal) noexcept nogil:
        """1 if the goal can be reached, 0 if not, -1 if only a value refuses it: then `refusal` is its guard."""
        cdef int64_t *m = self.move + goal * MOVE_COLUMNS
        cdef int64_t i
        if not self.reached[m[PROCESS]][m[SOURCE]] or self.marked(m[BARS], m[GOAL_BARS]):
            return 0
        for i in range(kind[GUARDS], kind[GUARDS_END]):
            self.refusal = self.kind_guard + 3 * i
            if self.refusal[0] == goal:
                self.refused_field = self.header[KEPT_FIELD]
                if not self.marked(kind[KEPT], kind[KEPT_END]):
                    self.refused_field = kind[KIND_CELL]
                if self.written[self.refused_field]:
                    return 1
                return 1 if holds(self.value[self.refused_field], self.refusal[1], self.refusal[2]) else -1
        return 1

    cdef bint spreads(self, int64_t *kind, uint64_t *ends) noexcept nogil:
        """What is marked can spread to an end. The third set has the goals; the first is used up."""
        cdef uint64_t *taken = self.sets
        cdef uint64_t *free_moves = self.sets + self.row
        cdef uint64_t *goals = self.sets + 2 * self.row
        cdef uint64_t *found = self.sets + 3 * self.row
        cdef uint64_t *rows
        cdef uint64_t word
        cdef int64_t *m
        cdef int64_t *pairs
        cdef int64_t i, j, k
        memset(found, 0, self.row * 8)
        for j in range(self.row):
            word = taken[j]
            while word:
                i = 64 * j + lowest(word)
                word &= word - 1
                m = self.move + i * MOVE_COLUMNS
                rows = self.rows + 3 * i * self.row
                for k in range(self.row):
                    if m[PROCESS] == kind[KIND_PROCESS] and rows[k] & goals[k]:
                        return True
                    found[k] |= rows[k]
                if m[COUNTS] and free_moves[j] >> (i & 63) & 1:
                    pairs = self.header + SPREAD_PAIRS + 2 * m[PROCESS]
                    if self.marked(pairs[0], pairs[1]):
                        found[j] |= <uint64_t>1 << (i & 63)
                    if self.marked(m[MARKS], m[MARKS_END]):
                        found[j] |= <uint64_t>1 << (i & 63)
                        for k in range(self.row):
                            found[k] |= rows[self.row + k]
        for k in range(self.row):
            found[k] &= free_moves[k]
            taken[k] = found[k]
        return self.reaches_end(kind, ends)

    cdef bint reaches_end(self, int64_t *kind, uint64_t *ends) noexcept nogil:
        """From the moves in the first set, those in the fourth, an end is reached among those not barred."""
        cdef uint64_t *todo = self.sets
        cdef uint64_t *free_moves = self.sets + self.row
        cdef uint64_t *found = self.sets + 3 * self.row
        cdef uint64_t *rows
        cdef uint64_t new
        cdef int64_t i, j = 0, k, first
        while j < self.row:
            if todo[j] == 0:
                j += 1
                continue
            i = 64 * j + lowest(todo[j])
            todo[j] &= todo[j] - 1
            if ends[j] >> (i & 63) & 1 or self.move[i * MOVE_COLUMNS + PROCESS] == kind[KIND_PROCESS]:
                return True
            rows = self.rows + 3 * i * self.row
            first = j
            for k in range(self.row):
                new = (rows[self.row + k] | rows[2 * self.row + k]) & free_moves[k] & ~found[k]
                found[k] |= new
                todo[k] |= new
                if new and k < first:
                    first = k
            j = first
        return False


cdef int64_t *_copy(int64_t[::1] values) except NULL:
    cdef int64_t *copied = <int64_t *>zeroed(values.shape[0], 8)
    if values.shape[0]:
        memcpy(copied, &values[0], values.shape[0] * 8)
    return copied
