# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""A look ahead from a packed state: whether, process by process, some goal may still be met.

It follows a pruner's tables, whose columns are named below; pruner.py says what they mean. A state from which nothing can be met leaves a *proof*: the locations that each process was found to reach,
and the values that kept moves from being taken. Where the marks are the same, the processes at such locations and the
values there, the look ahead of another state would take no move that this one has not taken; so it is not made. Before a
proof is stored it is generalised, by looking again from more locations and with any values, as long as proofs are of use.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._packed cimport Field, equal_words, field_value, hash_words, lowest

# The columns of a move. Pairs (field, bits) from BARS to GOAL_BARS are the bars that a goal minds, to MARKS all of them, from
# there to MARKS_END its marks; NEXT is the next move of its process from its source.
cdef enum:
    PROCESS, SOURCE, TARGET, BARS, GOAL_BARS, MARKS, MARKS_END, PASSES, CELL, GUARDED, LEAST, ALLOWED, WRITES, COUNTS, NEXT, MOVE_COLUMNS

cdef enum:
    KIND_PROCESS, KIND_CELL, KEPT, KEPT_END, GUARDS, GUARDS_END, KIND_COLUMNS

cdef enum:
    KIND_FIELD, MET_FIELD, GONE_FIELD, KEPT_FIELD, SPREAD_PAIRS

cdef int64_t ROOM = 1 << 19
"""Words of memory for proofs: four megabytes, of which those not used are never touched. When it is full all are forgotten."""
cdef int64_t BUCKETS = 1 << 10
cdef int64_t EFFORT = 1 << 12
"""Times to look again, for a proof that holds for more states, before the first of them has been of use."""


cdef class LookAhead:
    """The tables of a pruner for records with these fields, and the proofs found so far. Raises MemoryError."""

    def __init__(self, int words, list fields, list locations, int64_t[::1] header, int64_t[::1] moves, int64_t[::1] pairs, int64_t[::1] kinds, int64_t[::1] guards, uint64_t[::1] rows):
        cdef int i
        self.words, self.fields, self.processes = words, len(fields), len(locations)
        self.field = <Field *>_room(self.fields * sizeof(Field))
        for i, (least, mask, word, shift) in enumerate(fields):
            self.field[i].least, self.field[i].mask, self.field[i].word, self.field[i].shift = least, mask, word, shift
        self.value = <int64_t *>_room(self.fields * 8)
        self.written, self.any_value = <uint8_t *>_room(self.fields), <uint8_t *>_room(self.fields)
        self.tried = <uint8_t *>_room(self.fields)
        self.header, self.move, self.pair = _copy(header), _copy(moves), _copy(pairs)
        self.kind, self.kind_guard = _copy(kinds), _copy(guards)
        self.moves = moves.shape[0] // MOVE_COLUMNS
        self.row = (self.moves + 63) // 64
        self.rows = <uint64_t *>_room(rows.shape[0] * 8)
        if rows.shape[0]:
            memcpy(self.rows, &rows[0], rows.shape[0] * 8)
        self.sets = <uint64_t *>_room(4 * self.row * 8)
        self._make_places(locations)
        self._make_proofs([header[KIND_FIELD], header[MET_FIELD], header[GONE_FIELD]] + [pairs[i] for i in range(0, pairs.shape[0], 2)])

    def _make_places(self, list locations):
        """Room for the locations that are reached, and the first move from each."""
        cdef int p
        cdef int64_t i, every = 0
        cdef int64_t *m
        self.locations = <int64_t *>_room(self.processes * 8)
        self.reached = <uint8_t **>_room(self.processes * sizeof(uint8_t *))
        self.also = <uint8_t **>_room(self.processes * sizeof(uint8_t *))
        self.first = <int64_t **>_room(self.processes * sizeof(int64_t *))
        for p in range(self.processes):
            self.locations[p] = locations[p] + 1
            every += locations[p] + 1
            self.reached[p], self.also[p] = <uint8_t *>_room(locations[p] + 1), <uint8_t *>_room(locations[p] + 1)
            self.first[p] = <int64_t *>_room((locations[p] + 1) * 8)
            memset(self.first[p], 0xFF, (locations[p] + 1) * 8)
        self.places = <int64_t *>_room(2 * every * 8)
        self.waiting = <int64_t *>_room(self.moves * 8)
        for i in range(self.moves - 1, -1, -1):
            m = self.move + i * MOVE_COLUMNS
            m[NEXT] = self.first[m[PROCESS]][m[SOURCE]]
            self.first[m[PROCESS]][m[SOURCE]] = i

    def _make_proofs(self, list marks):
        """Make room for proofs, each of which is for certain values of these fields."""
        cdef int64_t i
        cdef Field *f
        self.marks = <uint64_t *>_room(self.words * 8)
        self.masked = <uint64_t *>_room(self.words * 8)
        for i in marks:
            f = &self.field[i]
            self.marks[f.word] |= f.mask << f.shift
        self.memory = <uint64_t *>malloc(ROOM * 8)
        self.bucket = <int64_t *>_room(BUCKETS * 8)
        if self.memory == NULL:
            raise MemoryError
        self.used, self.effort = 1, EFFORT

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
        free(self.field); free(self.value); free(self.written); free(self.any_value); free(self.tried)
        free(self.header); free(self.move); free(self.pair)
        free(self.kind); free(self.kind_guard); free(self.rows); free(self.sets)
        free(self.marks); free(self.masked); free(self.memory); free(self.bucket)

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

    # Proofs. In the memory are keys (next key, first proof, masked words) and proofs (next proof, how many further
    # conditions, a mask and a value for every word, the locations reached as bits, the conditions), all by their places.

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
            if _holds(field_value(record, &self.field[conditions[0]]), <int64_t>conditions[1], <int64_t>conditions[2]):
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
                other += not _holds(<int64_t>value + f.least, least, allowed)
        if other == 1:
            words[0] |= f.mask << f.shift
            words[1] |= record[f.word] & f.mask << f.shift
            return
        condition = self.memory + self.used
        condition[0], condition[1], condition[2] = <uint64_t>field, <uint64_t>least, <uint64_t>allowed
        proof[1] += 1
        self.used += 3

    # The look ahead itself, from the state in `value`.

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
                    if m[GUARDED] and not self.written[m[CELL]] and not _holds(self.value[m[CELL]], m[LEAST], m[ALLOWED]):
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
                return 1 if _holds(self.value[self.refused_field], self.refusal[1], self.refusal[2]) else -1
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
                    if self.marked(self.header[SPREAD_PAIRS + 2 * m[PROCESS]], self.header[SPREAD_PAIRS + 1 + 2 * m[PROCESS]]):
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


cdef inline bint _holds(int64_t value, int64_t least, int64_t allowed) noexcept nogil:
    return value < least or value - least >= 64 or <uint64_t>allowed >> (value - least) & 1


cdef void *_room(int64_t size) except NULL:
    cdef void *made = calloc(size + 8, 1)
    if made == NULL:
        raise MemoryError
    return made


cdef int64_t *_copy(int64_t[::1] values) except NULL:
    cdef int64_t *copied = <int64_t *>_room(values.shape[0] * 8)
    if values.shape[0]:
        memcpy(copied, &values[0], values.shape[0] * 8)
    return copied
