# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What looks ahead have shown, so that most need not be made.

A state from which nothing can be met leaves a *proof*: the locations that each process was found to reach, and the values
that kept moves from being taken. Where the marks are the same, the processes at such locations and the values there, the
look ahead of another state would take no move that this one has not taken; so it is not made. Before a proof is stored it is
generalised, by looking again from more locations and with any values, as long as proofs are of use.

In the memory are keys (next key, first proof, masked words) and proofs (next proof, how many further conditions, a mask and
a value for every word, the locations reached as bits, the conditions), all by their places.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._look_ahead cimport (
    ALLOWED, BARS, CELL, GONE_FIELD, KIND_COLUMNS, KIND_FIELD, LEAST, MARKS, MET_FIELD, MOVE_COLUMNS, PASSES, Look, holds,
)
from rdma_robust.counters.kernel._packed cimport Field, equal_words, field_value, hash_words
from rdma_robust.native.memory cimport refuse, resized, zeroed

cdef int64_t ROOM = 1 << 19
"""Words of memory for proofs: four megabytes, of which those not used are never touched. When full all are forgotten."""
cdef int64_t BUCKETS = 1 << 10
cdef int64_t EFFORT = 1 << 12
"""Times to look again, for a proof that holds for more states, before the first of them has been of use."""


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class LookAhead(Look):
    """A look ahead that keeps proofs. Takes what :class:`Look` takes. Raises MemoryError."""

    def __init__(self, int words, list fields, list locations, header, moves, pairs, kinds, guards, rows):
        Look.__init__(self, words, fields, locations, header, moves, pairs, kinds, guards, rows)
        self._make_proofs([header[KIND_FIELD], header[MET_FIELD], header[GONE_FIELD], *pairs[::2]])

    def _make_proofs(self, list marks):
        """Make room for proofs, each of which is for certain values of these fields."""
        cdef int64_t i
        cdef Field *f
        self.tried = <uint8_t *>zeroed(self.fields, 1)
        self.marks = <uint64_t *>zeroed(self.words, 8)
        self.masked = <uint64_t *>zeroed(self.words, 8)
        for i in marks:
            f = &self.field[i]
            self.marks[f.word] |= f.mask << f.shift
        self.memory = <uint64_t *>resized(NULL, ROOM, 8)
        self.bucket = <int64_t *>zeroed(BUCKETS, 8)
        self.used, self.effort = 1, EFFORT

    def __dealloc__(self):
        free(self.tried); free(self.marks); free(self.masked); free(self.memory); free(self.bucket)

    cdef bint hopeless(self, uint64_t *record) noexcept nogil:
        """No goal can be met from this state."""
        cdef int i
        cdef int64_t key
        cdef uint64_t place
        if field_value(record, &self.field[self.header[KIND_FIELD]]) == 0:
            return False
        if self.known(record, &key, &place):
            self.effort += 1
            return True
        for i in range(self.fields):
            self.value[i] = field_value(record, &self.field[i])
        self.effort += 1
        if not self.look():
            return False
        if self.effort > 0:
            self.generalise()
            self.remember(record, key, place)
        return True

    cdef void generalise(self) noexcept nogil:
        """Look again as if processes were at more locations, and fields had any value, while the answer stays the same."""
        cdef int p
        cdef int64_t i = 0, cell
        for p in range(self.processes):
            self.spread_out(p, 0, self.locations[p])
        self.look()
        while i < self.blocked:
            cell = self.move[self.waiting[i] * MOVE_COLUMNS + CELL]
            i += 1
            if not self.tried[cell]:
                self.effort -= 1
                self.tried[cell], self.any_value[cell] = 1, 1
                if self.look():
                    i = 0
                else:
                    self.any_value[cell] = 0
                    self.look()
        for p in range(self.processes):
            memset(self.also[p], 0, self.locations[p])
        memset(self.any_value, 0, self.fields)
        memset(self.tried, 0, self.fields)

    cdef void spread_out(self, int p, int64_t first, int64_t end) noexcept nogil:
        """Let a process be at as many locations from `first` to before `end` as the answer allows, tried by halves."""
        cdef int64_t middle = (first + end) // 2
        self.effort -= 1
        memset(self.also[p] + first, 1, end - first)
        if self.look():
            return
        memset(self.also[p] + first, 0, end - first)
        if end - first > 1:
            self.spread_out(p, first, middle)
            self.spread_out(p, middle, end)

    cdef bint known(self, uint64_t *record, int64_t *key, uint64_t *place) noexcept nogil:
        """Some proof holds for this state; else the key for its marks, 0 if there is none, and the bucket it belongs to."""
        cdef int i
        cdef int64_t at, before
        for i in range(self.words):
            self.masked[i] = record[i] & self.marks[i]
        place[0] = hash_words(self.masked, self.words) & (BUCKETS - 1)
        at = self.bucket[place[0]]
        while at and not equal_words(self.memory + at + 2, self.masked, self.words):
            at = self.memory[at]
        key[0] = at
        if at == 0:
            return False
        before, at = 0, self.memory[at + 1]
        while at:
            if self.proves(self.memory + at, record):
                if before:
                    self.memory[before], self.memory[at] = self.memory[at], self.memory[key[0] + 1]
                    self.memory[key[0] + 1] = at
                return True
            before, at = at, self.memory[at]
        return False

    cdef bint proves(self, uint64_t *proof, uint64_t *record) noexcept nogil:
        """The proof, found for a state with the same marks, holds for this one too."""
        cdef int i
        cdef int64_t k, at
        cdef uint64_t *conditions = proof + 2
        cdef Field *f
        for i in range(self.words):
            if record[i] & conditions[0] != conditions[1]:
                return False
            conditions += 2
        for i in range(self.processes):
            at = field_value(record, &self.field[i])
            if not conditions[at >> 6] >> (at & 63) & 1:
                return False
            conditions += (self.locations[i] + 63) >> 6
        for k in range(<int64_t>proof[1]):
            if holds(field_value(record, &self.field[conditions[0]]), <int64_t>conditions[1], <int64_t>conditions[2]):
                return False
            conditions += 3
        return True

    cdef void remember(self, uint64_t *record, int64_t key, uint64_t place) noexcept nogil:
        """Store what the look ahead from this state, just made, has shown. `masked` has its marks."""
        cdef int i
        cdef int64_t most = 4 + 3 * self.words + 3 * (self.moves + self.moves)
        for i in range(self.processes):
            most += (self.locations[i] + 63) >> 6
        if self.used + most > ROOM:
            memset(self.bucket, 0, BUCKETS * 8)
            self.used, key = 1, 0
            if self.used + most > ROOM:
                return
        if key == 0:
            key = self.used
            self.memory[key], self.memory[key + 1] = self.bucket[place], 0
            memcpy(self.memory + key + 2, self.masked, self.words * 8)
            self.bucket[place] = key
            self.used += 2 + self.words
        self.memory[self.used] = self.memory[key + 1]
        self.memory[key + 1] = self.used
        self.prove(self.memory + self.used, record)

    cdef void prove(self, uint64_t *proof, uint64_t *record) noexcept nogil:
        """Write the proof of the look ahead just made; `used` grows."""
        cdef int p
        cdef int64_t i, gone = self.value[self.header[GONE_FIELD]], kind = self.value[self.header[KIND_FIELD]]
        cdef int64_t *m
        cdef uint64_t *reached = proof + 2 + 2 * self.words
        cdef uint64_t *goals = self.rows + (3 * self.moves + 2 * (kind - 1)) * self.row
        proof[1] = 0
        memset(proof + 2, 0, 2 * self.words * 8)
        self.used += 2 + 2 * self.words
        for p in range(self.processes):
            memset(reached, 0xFF if gone >> p & 1 else 0, ((self.locations[p] + 63) >> 6) * 8)
            for i in range(self.locations[p]):
                if self.reached[p][i]:
                    reached[i >> 6] |= <uint64_t>1 << (i & 63)
            reached += (self.locations[p] + 63) >> 6
            self.used += (self.locations[p] + 63) >> 6
        for i in range(self.blocked):
            m = self.move + self.waiting[i] * MOVE_COLUMNS
            if m[PASSES] or not self.marked(m[BARS], m[MARKS]):
                self.require(proof, record, m[CELL], m[LEAST], m[ALLOWED])
        for i in range(self.moves):
            if goals[i >> 6] >> (i & 63) & 1 and self.possible(self.kind + (kind - 1) * KIND_COLUMNS, i) < 0:
                self.require(proof, record, self.refused_field, self.refusal[1], self.refusal[2])

    cdef void require(self, uint64_t *proof, uint64_t *record, int64_t field, int64_t least, int64_t allowed) noexcept nogil:
        """Add the condition that a field has a value that is not allowed: it has one in the record."""
        cdef Field *f = &self.field[field]
        cdef uint64_t *words = proof + 2 + 2 * f.word
        cdef uint64_t *condition
        cdef uint64_t value
        cdef int other = 0
        if f.mask and words[0] >> f.shift & f.mask == f.mask:
            return
        if f.mask < 64:
            for value in range(f.mask + 1):
                other += not holds(<int64_t>value + f.least, least, allowed)
        if other == 1:
            words[0] |= f.mask << f.shift
            words[1] |= record[f.word] & f.mask << f.shift
            return
        condition = self.memory + self.used
        condition[0], condition[1], condition[2] = <uint64_t>field, <uint64_t>least, <uint64_t>allowed
        proof[1] += 1
        self.used += 3
