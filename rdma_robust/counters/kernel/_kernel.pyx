# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled search kernel: the searches of search.py over states packed into machine words.

bytecode.py makes what it runs; kernel.py drives it. A state is a record in a chunk: `words` 64-bit words of packed fields,
one word with the parent (low half) and the label that led here (high half) and, where there are counters, the next record
with the same fields and the counters. The hash table is open-addressing, of 32-bit entries: the record's number and, in the
bits that leaves, a part of the hash. The interpreter lock is released during :meth:`Search.run`.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._look_ahead cimport LookAhead
from rdma_robust.counters.kernel._packed cimport Field, count_bits, equal_words, field_value, hash_words, lowest, prefetch

cdef enum Op:
    END, EMIT, JZ, JMP, CALL, RET, ACCEPT, MOV, ADD, SUB, MUL, DIV, MOD, EQ, NE, LT, LE, NOT, LAND, LOR, AND, OR, ANDN, SHR, ITE, BIT, LATER

cdef enum Status:
    BUDGET, DONE, FOUND, CODE, WIDE, STATES, MEMORY, OVERFLOW

LAYOUT = 3
"""To be raised with every change of what kernel.py and bytecode.py hand over."""

cdef int CHUNK_BITS = 14
cdef int64_t CHUNK = 1 << 14
cdef int64_t OMEGA = 0x7FFFFFFFFFFFFFFF
cdef int64_t HUGE = 0x3FFFFFFFFFFFFFFF
cdef uint64_t LOW = 0xFFFFFFFFULL
cdef uint64_t AHEAD = 16
cdef int64_t MOST_STATES = 0x5FFFFFFF


cdef struct Place:
    uint64_t next_reads
    uint64_t next_writes
    uint64_t reads
    uint64_t writes
    int32_t code
    int32_t target
    int32_t cyclic
    int32_t local
    int32_t known


cdef struct Stack:
    uint32_t *items
    int64_t size
    int64_t room


cdef class Search:
    """One search; see :mod:`rdma_robust.counters.kernel.driver` for the arguments."""

    cdef int longest_chain, chain_length, words, counters, record, processes, fields, reduce, accelerate, by_rank, ranks
    cdef Field *field
    cdef Place **place
    cdef int32_t *locations
    cdef int32_t *rank_field
    cdef int32_t *code
    cdef int64_t code_size
    cdef int64_t *slot
    cdef int64_t slots
    cdef int32_t *leaf_start
    cdef int32_t *leaf_label
    cdef int32_t *leaf_effect
    cdef int32_t *change
    cdef int64_t leaves, changes
    cdef int64_t *effect
    cdef int64_t effects
    cdef uint64_t *table
    cdef int64_t table_size
    cdef uint8_t *fired_bits
    cdef int64_t labels
    cdef uint64_t **chunk
    cdef int64_t chunks, chunk_room
    cdef uint8_t *expanded
    cdef int64_t expanded_room
    cdef uint32_t *hash_table
    cdef uint64_t hash_mask
    cdef int index_bits
    cdef Stack *stack
    cdef uint64_t *buffer
    cdef uint64_t *hashes
    cdef int64_t buffer_size, buffer_room
    cdef int64_t *scratch
    cdef int64_t *chain
    cdef int64_t *notes
    cdef int64_t noted, note_room
    cdef int neutral
    cdef uint64_t *packed
    cdef int64_t max_states, max_bytes
    cdef readonly int64_t states, done, transitions, bytes, wide_value
    cdef readonly int need_process, need_location, wide_field, found
    cdef readonly int64_t found_state
    cdef int32_t global_target
    cdef LookAhead ahead
    cdef bint looks

    def __cinit__(self, int words, list fields, list locations, int counters, list rank_fields, *, bint reduce, bint by_rank, bint accelerate, int longest_chain):
        cdef int i, j
        self.words, self.counters, self.reduce, self.accelerate, self.by_rank = words, counters, reduce, accelerate, by_rank
        self.record = words + 1 + (1 + counters if counters else 0)
        self.fields, self.processes = len(fields), len(locations)
        self.field = <Field *>calloc(self.fields + 1, sizeof(Field))
        for i, (least, mask, word, shift) in enumerate(fields):
            self.field[i].least, self.field[i].mask, self.field[i].word, self.field[i].shift = least, mask, word, shift
        self.locations = <int32_t *>calloc(self.processes + 1, sizeof(int32_t))
        self.place = <Place **>calloc(self.processes + 1, sizeof(Place *))
        for i in range(self.processes):
            self.locations[i] = locations[i]
            self.place[i] = <Place *>calloc(locations[i] + 1, sizeof(Place))
            for j in range(locations[i] + 1):
                self.place[i][j].target = -1
        self.ranks = len(rank_fields)
        self.rank_field = <int32_t *>calloc(self.ranks + 1, sizeof(int32_t))
        for i in range(self.ranks):
            self.rank_field[i] = rank_fields[i]
        self.stack = <Stack *>calloc(self.ranks + 1, sizeof(Stack))
        self.hash_mask = (1 << 12) - 1
        self.hash_table = <uint32_t *>calloc(self.hash_mask + 1, sizeof(uint32_t))
        self.index_bits = 12
        self.buffer_room = 64
        self.buffer = <uint64_t *>malloc(self.buffer_room * self.record * 8)
        self.hashes = <uint64_t *>malloc(self.buffer_room * 8)
        self.packed = <uint64_t *>calloc(self.record, 8)
        self.scratch = <int64_t *>calloc(counters + 1, 8)
        self.global_target = -1
        self.longest_chain = longest_chain
        self.chain = <int64_t *>calloc(longest_chain + 1, 8)
        self.bytes = (self.hash_mask + 1) * 4

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.chunks):
            free(self.chunk[i])
        for i in range(self.processes):
            free(self.place[i])
        for i in range(self.ranks + 1):
            free(self.stack[i].items)
        free(self.field); free(self.locations); free(self.place); free(self.rank_field); free(self.code); free(self.slot)
        free(self.leaf_start); free(self.leaf_label); free(self.leaf_effect); free(self.change); free(self.effect)
        free(self.table); free(self.fired_bits); free(self.chunk); free(self.expanded); free(self.hash_table)
        free(self.stack); free(self.buffer); free(self.hashes); free(self.chain); free(self.notes); free(self.scratch); free(self.packed)

    def load(self, int32_t[::1] code, int64_t[::1] slots, int32_t[::1] leaves, int32_t[::1] changes, int64_t[::1] effects, uint64_t[::1] table, int64_t labels):
        """Take the whole program text again, after it has grown. `leaves` has (start in changes, label, effect) triples."""
        cdef int64_t i, old = (self.labels + 7) // 8, new = (labels + 7) // 8
        self.code = <int32_t *>realloc(self.code, code.shape[0] * 4 + 16)
        memcpy(self.code, &code[0], code.shape[0] * 4)
        self.slot = <int64_t *>realloc(self.slot, slots.shape[0] * 8 + 8)
        memcpy(self.slot, &slots[0], slots.shape[0] * 8)
        self.leaves = leaves.shape[0] // 3
        self.leaf_start = <int32_t *>realloc(self.leaf_start, (self.leaves + 1) * 4)
        self.leaf_label = <int32_t *>realloc(self.leaf_label, (self.leaves + 1) * 4)
        self.leaf_effect = <int32_t *>realloc(self.leaf_effect, (self.leaves + 1) * 4)
        for i in range(self.leaves):
            self.leaf_start[i], self.leaf_label[i], self.leaf_effect[i] = leaves[3 * i], leaves[3 * i + 1], leaves[3 * i + 2]
        self.leaf_start[self.leaves] = changes.shape[0] // 2
        self.change = <int32_t *>realloc(self.change, changes.shape[0] * 4 + 8)
        if changes.shape[0]:
            memcpy(self.change, &changes[0], changes.shape[0] * 4)
        self.effect = <int64_t *>realloc(self.effect, effects.shape[0] * 8 + 8)
        if effects.shape[0]:
            memcpy(self.effect, &effects[0], effects.shape[0] * 8)
        self.table = <uint64_t *>realloc(self.table, table.shape[0] * 8 + 8)
        if table.shape[0]:
            memcpy(self.table, &table[0], table.shape[0] * 8)
        if new > old or self.fired_bits == NULL:
            self.fired_bits = <uint8_t *>realloc(self.fired_bits, new + 1)
            memset(self.fired_bits + old, 0, new + 1 - old)
        self.labels = labels

    def set_place(self, int process, int location, int code, tuple footprints, bint cyclic, bint local):
        """Say what a process does at a location: where its code starts, -1 for none."""
        cdef Place *p = &self.place[process][location]
        p.code, p.cyclic, p.local, p.known = code, cyclic, local, 1
        p.next_reads, p.next_writes, p.reads, p.writes = footprints

    def set_target(self, int process, int location, int code):
        """Say where the test of the targets starts that need a process at a location, or (process -1) that need none."""
        if process < 0:
            self.global_target = code
        else:
            self.place[process][location].target = code

    def set_look_ahead(self, LookAhead ahead):
        """Leave out the states that this says are hopeless."""
        self.ahead, self.looks = ahead, True

    def start(self, list values):
        """Store the initial state, whose fields have these values."""
        cdef int i
        cdef uint64_t h, place
        memset(self.packed, 0, self.record * 8)
        for i in range(self.fields):
            self.packed[self.field[i].word] |= (<uint64_t>(<int64_t>values[i] - self.field[i].least)) << self.field[i].shift
        self.max_states, self.max_bytes = MOST_STATES, 0x7FFFFFFFFFFFFFFF
        self.packed[self.words] = LOW
        h = hash_words(self.packed, self.words)
        self.find(self.packed, h, &place)
        self.insert(self.packed, h, -1, place)

    def run(self, int64_t budget, int64_t max_states, int64_t max_bytes):
        """Expand up to `budget` states; return a status."""
        cdef int status
        self.max_states, self.max_bytes = max_states, max_bytes
        with nogil:
            status = self.loop(budget)
        return status

    def target_at_start(self):
        """Whether a target holds in the initial state; then it is the one found."""
        return self.test(0) == FOUND

    def path(self, int64_t number):
        """Return (labels taken, packed fields) of each state from the initial one, where none is taken, to state `number`."""
        cdef uint64_t *r
        cdef int i
        found = []
        while True:
            r = self.at(number)
            words = [r[i] for i in range(self.words)]
            parent = r[self.words] & LOW
            if parent == LOW:
                found.append(([0], words))
                return found[::-1]
            found.append((self.taken(parent, r[self.words] >> 32), words))
            number = parent

    cdef list taken(self, int64_t parent, int64_t label):
        """The transition with this label from a state, and those at local locations that were taken with it."""
        cdef int p
        cdef int64_t s
        self.unpack(self.at(parent))
        self.buffer_size = 0
        for p in range(self.processes):
            s = self.buffer_size
            if self.place[p][self.slot[p]].code >= 0:
                self.execute(parent, self.at(parent), self.place[p][self.slot[p]].code)
            while s < self.buffer_size:
                if <int64_t>(self.buffer[s * self.record + self.words] >> 32) == label:
                    self.settle(parent, s, p)
                    return [label] + [self.chain[i] for i in range(self.chain_length)]
                s += 1
        raise AssertionError("a stored transition is not enabled")

    def fired(self):
        """Return the labels that were ever enabled."""
        return [i for i in range(self.labels) if self.fired_bits[i >> 3] >> (i & 7) & 1]

    cdef inline uint64_t *at(self, int64_t number) noexcept nogil:
        return self.chunk[number >> CHUNK_BITS] + (number & (CHUNK - 1)) * self.record

    cdef void unpack(self, uint64_t *r) noexcept nogil:
        cdef int i
        cdef Field *f = self.field
        cdef int64_t *slot = self.slot
        for i in range(self.fields):
            slot[i] = <int64_t>((r[f[i].word] >> f[i].shift) & f[i].mask) + f[i].least

    cdef int loop(self, int64_t budget) noexcept nogil:
        cdef int64_t number
        cdef int status, rank
        while budget > 0:
            rank = 0
            if self.by_rank:
                rank = self.ranks
                while rank >= 0 and self.stack[rank].size == 0:
                    rank -= 1
                if rank < 0:
                    return DONE
                number = self.stack[rank].items[self.stack[rank].size - 1]
            else:
                if self.done == self.states:
                    return DONE
                number = self.done
            self.unpack(self.at(number))
            if not self.known():
                return CODE
            if self.by_rank:
                self.stack[rank].size -= 1
            self.done += 1
            self.expanded[number >> 3] |= 1 << (number & 7)
            status = self.expand(number)
            if status == CODE:
                self.done -= 1
                self.expanded[number >> 3] &= ~(1 << (number & 7))
                if self.by_rank:
                    self.stack[rank].size += 1
            if status:
                return status
            budget -= 1
        return BUDGET

    cdef int known(self) noexcept nogil:
        cdef int p
        for p in range(self.processes):
            if not self.place[p][self.slot[p]].known:
                self.need_process, self.need_location = p, <int>self.slot[p]
                return 0
        return 1

    cdef int expand(self, int64_t number) noexcept nogil:
        """Find the successors of the state that is unpacked in the slots, and store them. 0 to go on."""
        cdef uint64_t members[65]
        cdef int64_t ends[64]
        cdef uint64_t everything, m
        cdef int count = 0, k, p, status, guarded
        cdef int64_t s, note = 0
        everything = (<uint64_t>1 << self.processes) - 1 if self.processes < 64 else ~<uint64_t>0
        if self.reduce:
            count = self.clusters(members, everything)
        members[count] = everything
        for k in range(count + 1):
            m = members[k]
            guarded = 0
            self.buffer_size = 0
            if k:
                self.unpack(self.at(number))
            for p in range(self.processes):
                if m >> p & 1:
                    if self.place[p][self.slot[p]].code >= 0:
                        status = self.execute(number, self.at(number), self.place[p][self.slot[p]].code)
                        if status < 0:
                            return -status
                    if k < count and self.place[p][self.slot[p]].cyclic:
                        guarded = 1
                ends[p] = self.buffer_size
            self.noted = 0
            if self.looks:
                self.leave_out(self.rank(self.at(number)))
            if self.reduce:
                s = 0
                for p in range(self.processes):
                    while s < ends[p]:
                        status = self.settle(number, s, p)
                        if status:
                            return status
                        s += 1
            self.hash_buffer()
            if self.buffer_size and not (guarded and self.nothing_new(self.rank(self.at(number)))):
                break
        if not self.counters:
            self.transitions += self.buffer_size
        for s in range(self.buffer_size):
            if self.counters:
                self.transitions += 1
            while note < self.noted and self.notes[2 * note] == s:
                self.fired_bits[self.notes[2 * note + 1] >> 3] |= 1 << (self.notes[2 * note + 1] & 7)
                note += 1
            status = self.add(number, self.buffer + s * self.record, self.hashes[s])
            if status:
                return status
        return 0

    cdef void leave_out(self, int rank) noexcept nogil:
        """Take away the parent of hopeless successors of a higher rank: they are neither extended nor stored."""
        cdef int64_t s
        cdef uint64_t *r
        for s in range(self.buffer_size):
            r = self.buffer + s * self.record
            if self.rank(r) > rank and self.ahead.hopeless(r):
                r[self.words] |= LOW

    cdef void hash_buffer(self) noexcept nogil:
        cdef int64_t s
        cdef uint64_t *r
        for s in range(self.buffer_size):
            r = self.buffer + s * self.record
            if r[self.words] & LOW != LOW:
                self.hashes[s] = hash_words(r, self.words)
                prefetch(&self.hash_table[self.hashes[s] & self.hash_mask])

    cdef int clusters(self, uint64_t *members, uint64_t everything) noexcept nogil:
        """Write the closed sets but the last, as independence.py says; return how many there are."""
        cdef uint64_t disturbed[64]
        cdef uint64_t grown, new
        cdef int p, i, count = 0
        self.disturb(disturbed)
        for p in range(self.processes):
            grown = new = <uint64_t>1 << p
            while new and grown != everything:
                new = disturbed[lowest(new)] & ~grown | new & (new - 1)
                grown |= new
            i = 0
            while i < count and members[i] != grown:
                i += 1
            if i < count or grown == everything:
                continue
            while i > 0 and _before(grown, members[i - 1]):
                members[i] = members[i - 1]
                i -= 1
            members[i] = grown
            count += 1
        return count

    cdef void disturb(self, uint64_t *disturbed) noexcept nogil:
        """For every process find the others whose future conflicts with what it does next."""
        cdef uint64_t every[64]
        cdef uint64_t writes[64]
        cdef uint64_t reads_next, writes_next, found
        cdef Place *here
        cdef int p, q
        for p in range(self.processes):
            here = &self.place[p][self.slot[p]]
            writes[p] = here.writes
            every[p] = here.reads | here.writes
        for p in range(self.processes):
            here = &self.place[p][self.slot[p]]
            reads_next, writes_next, found = here.next_reads, here.next_writes, 0
            if reads_next | writes_next:
                for q in range(self.processes):
                    found |= <uint64_t>((writes_next & every[q] | reads_next & writes[q]) != 0) << q
            disturbed[p] = found

    cdef int nothing_new(self, int rank) noexcept nogil:
        """Every state of this rank in the buffer is expanded (with counters: covered) already."""
        cdef int64_t s, found
        cdef uint64_t *r
        cdef uint64_t place
        for s in range(self.buffer_size):
            r = self.buffer + s * self.record
            if self.rank(r) != rank:
                continue
            found = self.find(r, self.hashes[s], &place)
            if self.counters:
                if not self.covered(r, found):
                    return 0
            elif found < 0 or not self.expanded[found >> 3] >> (found & 7) & 1:
                return 0
        return 1

    cdef int settle(self, int64_t number, int64_t s, int p) noexcept nogil:
        """Extend successor `s`, by a move of process `p`, by those at local locations that follow; note them in `chain`.

        A status, 0 to go on. The slots are overwritten.
        """
        cdef uint64_t *r
        cdef Place *place
        cdef Field *f = &self.field[p]
        cdef int64_t size = self.buffer_size
        cdef uint64_t link
        cdef int status
        self.chain_length = 0
        r = self.buffer + s * self.record
        if r[self.words] & LOW == LOW or field_value(r, f) == field_value(self.at(number), f):
            return 0
        while self.chain_length < self.longest_chain:
            r = self.buffer + s * self.record
            place = &self.place[p][field_value(r, f)]
            if not place.known:
                self.need_process, self.need_location = p, <int>field_value(r, f)
                return CODE
            if not place.local or place.code < 0:
                return 0
            self.unpack(r)
            if self.target(r) >= 0:
                return 0
            link = r[self.words]
            memcpy(self.packed, r, self.record * 8)
            status = self.execute(number, self.packed, place.code)
            if status < 0:
                return -status
            if self.buffer_size != size + 1 or not self.neutral:
                self.buffer_size = size
                return 0
            self.buffer_size = size
            if not self.note(s, <int64_t>(self.buffer[size * self.record + self.words] >> 32)):
                return MEMORY
            memcpy(self.buffer + s * self.record, self.buffer + size * self.record, self.record * 8)
            self.buffer[s * self.record + self.words] = link
        return 0

    cdef int note(self, int64_t s, int64_t label) noexcept nogil:
        """Remember that successor `s` was extended by a transition; 0 if there is no memory left."""
        self.chain[self.chain_length] = label
        self.chain_length += 1
        if self.noted == self.note_room:
            self.note_room = 2 * self.note_room + 64
            self.notes = <int64_t *>realloc(self.notes, self.note_room * 16)
            if self.notes == NULL:
                return 0
        self.notes[2 * self.noted], self.notes[2 * self.noted + 1] = s, label
        self.noted += 1
        return 1

    cdef int execute(self, int64_t number, uint64_t *parent, int64_t pc) noexcept nogil:
        """Run code on the slots, which have the fields of `parent`: successors go to the buffer. A negative status on trouble, else 1 + an accepted target or 0."""
        cdef int64_t *v = self.slot
        cdef int32_t *c
        cdef int64_t back = 0, a, b
        cdef int status
        while True:
            c = self.code + 4 * pc
            pc += 1
            if c[0] == JZ:
                if v[c[2]] == 0:
                    pc = c[1]
            elif c[0] == AND:
                v[c[1]] = v[c[2]] & v[c[3]]
            elif c[0] == OR:
                v[c[1]] = v[c[2]] | v[c[3]]
            elif c[0] == ANDN:
                v[c[1]] = v[c[2]] & ~v[c[3]]
            elif c[0] == EQ:
                v[c[1]] = v[c[2]] == v[c[3]]
            elif c[0] == NE:
                v[c[1]] = v[c[2]] != v[c[3]]
            elif c[0] == LT:
                v[c[1]] = v[c[2]] < v[c[3]]
            elif c[0] == LE:
                v[c[1]] = v[c[2]] <= v[c[3]]
            elif c[0] == NOT:
                v[c[1]] = v[c[2]] == 0
            elif c[0] == LAND:
                v[c[1]] = v[c[2]] != 0 and v[c[3]] != 0
            elif c[0] == LOR:
                v[c[1]] = v[c[2]] != 0 or v[c[3]] != 0
            elif c[0] == ITE:
                v[c[1]] = v[c[3]] if v[c[2]] != 0 else v[c[4]]
                pc += 1
            elif c[0] == BIT:
                a = v[c[3]]
                v[c[1]] = self.table[c[2] + (a >> 6)] >> (a & 63) & 1
            elif c[0] == MOV:
                v[c[1]] = v[c[2]]
            elif c[0] == ADD:
                v[c[1]] = v[c[2]] + v[c[3]]
            elif c[0] == SUB:
                v[c[1]] = v[c[2]] - v[c[3]]
            elif c[0] == MUL:
                v[c[1]] = v[c[2]] * v[c[3]]
            elif c[0] == DIV:
                b = v[c[3]]
                v[c[1]] = v[c[2]] / b if b != 0 else 0
            elif c[0] == MOD:
                b = v[c[3]]
                v[c[1]] = v[c[2]] % b if b != 0 else 0
            elif c[0] == SHR:
                b = v[c[3]]
                v[c[1]] = v[c[2]] >> (b if b < 63 else 63)
            elif c[0] == JMP:
                pc = c[1]
            elif c[0] == CALL:
                back = pc
                pc = c[1]
            elif c[0] == RET:
                pc = back
            elif c[0] == EMIT:
                status = self.emit(number, parent, c[1], c[2])
                if status < 0:
                    return status
            elif c[0] == ACCEPT:
                return 1 + c[1]
            elif c[0] == LATER:
                self.need_process, self.need_location = -1, c[1]
                return -CODE
            else:
                return 0

    cdef int emit(self, int64_t number, uint64_t *parent, int32_t leaf, int32_t option) noexcept nogil:
        """Put a successor into the buffer, if the counters allow it."""
        cdef uint64_t *r
        cdef uint64_t value
        cdef Field *f
        cdef int32_t i
        cdef int64_t label = self.leaf_label[leaf]
        cdef int64_t *effect
        cdef int64_t have
        if self.buffer_size == self.buffer_room:
            self.buffer_room *= 2
            self.buffer = <uint64_t *>realloc(self.buffer, self.buffer_room * self.record * 8)
            self.hashes = <uint64_t *>realloc(self.hashes, self.buffer_room * 8)
            if self.buffer == NULL or self.hashes == NULL:
                return -MEMORY
        r = self.buffer + self.buffer_size * self.record
        memcpy(r, parent, self.words * 8)
        for i in range(self.leaf_start[leaf], self.leaf_start[leaf + 1]):
            f = &self.field[self.change[2 * i]]
            value = <uint64_t>(self.slot[self.change[2 * i + 1]] - f.least)
            if value > f.mask:
                self.wide_field, self.wide_value = self.change[2 * i], self.slot[self.change[2 * i + 1]]
                return -WIDE
            r[f.word] = (r[f.word] & ~(f.mask << f.shift)) | value << f.shift
        if option >= 0:
            label += self.slot[option]
        r[self.words] = <uint64_t>number | <uint64_t>label << 32
        if self.counters:
            effect = self.effect + 2 * self.counters * <int64_t>self.leaf_effect[leaf]
            self.neutral = 1
            for i in range(self.counters):
                if effect[i] != 0 or effect[self.counters + i] != 0:
                    self.neutral = 0
                have = <int64_t>parent[self.words + 2 + i]
                if have != OMEGA:
                    if have < effect[i]:
                        return 0
                    have += effect[self.counters + i]
                    if have > HUGE:
                        return -OVERFLOW
                r[self.words + 2 + i] = <uint64_t>have
        if not self.counters:
            self.neutral = 1
        self.buffer_size += 1
        return 0

    cdef int64_t find(self, uint64_t *r, uint64_t h, uint64_t *place) noexcept nogil:
        """The newest record with the fields of `r`, whose hash is `h`, or -1; the place in the table where it is or belongs."""
        cdef uint64_t i = h & self.hash_mask
        cdef uint32_t index_mask = (<uint32_t>1 << self.index_bits) - 1
        cdef uint32_t tag = <uint32_t>(h >> 32) & ~index_mask
        cdef uint32_t entry
        while True:
            entry = self.hash_table[i]
            if entry == 0:
                place[0] = i
                return -1
            if (entry & ~index_mask) == tag and equal_words(self.at((entry & index_mask) - 1), r, self.words):
                place[0] = i
                return (entry & index_mask) - 1
            i = (i + 1) & self.hash_mask

    cdef int covered(self, uint64_t *r, int64_t other) noexcept nogil:
        """Some record in the chain from `other` has counters at least as large."""
        while other >= 0:
            if self.at_most(r, self.at(other)):
                return 1
            other = <int64_t>self.at(other)[self.words + 1] - 1
        return 0

    cdef inline int at_most(self, uint64_t *small, uint64_t *large) noexcept nogil:
        cdef int i
        for i in range(self.words + 2, self.record):
            if <int64_t>small[i] > <int64_t>large[i]:
                return 0
        return 1

    cdef void raise_counters(self, uint64_t *r, int64_t number, int64_t chain) noexcept nogil:
        """Set to omega what a cycle from an ancestor with the same fields to `r` increases."""
        cdef int64_t first = number + 1, at
        cdef uint64_t *a
        cdef int i
        cdef bint smaller
        while chain >= 0:
            if self.at_most(self.at(chain), r) and chain < first:
                first = chain
            chain = <int64_t>self.at(chain)[self.words + 1] - 1
        for i in range(self.counters):
            self.scratch[i] = <int64_t>r[self.words + 2 + i]
        at = number
        while at >= first:
            a = self.at(at)
            if equal_words(a, r, self.words):
                smaller = True
                for i in range(self.counters):
                    if <int64_t>a[self.words + 2 + i] > self.scratch[i]:
                        smaller = False
                if smaller:
                    for i in range(self.words + 2, self.record):
                        if <int64_t>a[i] < <int64_t>r[i]:
                            r[i] = <uint64_t>OMEGA
            if a[self.words] & LOW == LOW:
                return
            at = <int64_t>(a[self.words] & LOW)

    cdef int add(self, int64_t number, uint64_t *r, uint64_t h) noexcept nogil:
        """Store a successor unless it is there. A status, 0 to go on."""
        cdef int64_t old, label = <int64_t>(r[self.words] >> 32)
        cdef uint64_t place
        self.fired_bits[label >> 3] |= 1 << (label & 7)
        if r[self.words] & LOW == LOW:
            return 0
        old = self.find(r, h, &place)
        if old >= 0:
            if not self.counters or self.covered(r, old):
                return 0
        if self.looks and self.ahead.hopeless(r):
            return 0
        if self.states >= self.max_states:
            return STATES
        if self.counters and self.accelerate and old >= 0:
            self.raise_counters(r, number, old)
        if not self.insert(r, h, old, place):
            return MEMORY
        if old < 0:
            return self.test(self.states - 1)
        return 0

    cdef int test(self, int64_t number) noexcept nogil:
        """FOUND if a target holds in a new state: the slots are restored for the state being expanded."""
        cdef uint64_t *r = self.at(number)
        cdef int target
        if self.rank(r) < self.ranks:
            return 0
        self.unpack(r)
        target = self.target(r)
        if target < 0:
            return 0
        self.found, self.found_state = target, number
        return FOUND

    cdef int target(self, uint64_t *r) noexcept nogil:
        """The target with the least number that holds in the state in the slots, or -1."""
        cdef int best = -1, found, p, entry
        if self.rank(r) < self.ranks:
            return -1
        for p in range(self.processes + 1):
            entry = self.global_target if p == self.processes else self.place[p][self.slot[p]].target
            if entry >= 0:
                found = self.execute(0, NULL, entry) - 1
                if found >= 0 and (best < 0 or found < best):
                    best = found
        return best

    cdef inline int rank(self, uint64_t *r) noexcept nogil:
        cdef int i, found = 0
        cdef Field *f
        for i in range(self.ranks):
            f = &self.field[self.rank_field[i]]
            found += <int64_t>((r[f.word] >> f.shift) & f.mask) + f.least != 0
        return found

    cdef int insert(self, uint64_t *r, uint64_t h, int64_t old, uint64_t place) noexcept nogil:
        """Store a new record where `find` said; 0 if that would take too much memory."""
        cdef uint64_t *to
        cdef Stack *stack
        cdef uint32_t index_mask = (<uint32_t>1 << self.index_bits) - 1
        if self.states == self.chunks * CHUNK and not self.new_chunk():
            return 0
        to = self.at(self.states)
        memcpy(to, r, self.record * 8)
        if self.counters:
            to[self.words + 1] = <uint64_t>(old + 1)
        self.states += 1
        self.hash_table[place] = (<uint32_t>(h >> 32) & ~index_mask) | <uint32_t>self.states
        if <uint64_t>self.states * 4 >= (self.hash_mask + 1) * 3 and not self.rehash():
            return 0
        if self.by_rank:
            stack = &self.stack[self.rank(r)]
            if stack.size == stack.room:
                stack.room = 2 * stack.room + 1024
                stack.items = <uint32_t *>realloc(stack.items, stack.room * 4)
                self.bytes += (stack.room - stack.size) * 4
                if stack.items == NULL:
                    return 0
            stack.items[stack.size] = <uint32_t>(self.states - 1)
            stack.size += 1
        return 1

    cdef int new_chunk(self) noexcept nogil:
        """Make room for more records; 0 if that would take too much memory."""
        cdef int64_t size = CHUNK * self.record * 8
        if self.states >= MOST_STATES or self.bytes + size + CHUNK // 8 > self.max_bytes:
            return 0
        if self.chunks == self.chunk_room:
            self.chunk_room = 2 * self.chunk_room + 64
            self.chunk = <uint64_t **>realloc(self.chunk, self.chunk_room * sizeof(uint64_t *))
            self.expanded = <uint8_t *>realloc(self.expanded, self.chunk_room * CHUNK // 8)
            if self.chunk == NULL or self.expanded == NULL:
                return 0
            memset(self.expanded + self.chunks * (CHUNK // 8), 0, (self.chunk_room - self.chunks) * (CHUNK // 8))
        self.chunk[self.chunks] = <uint64_t *>malloc(size)
        if self.chunk[self.chunks] == NULL:
            return 0
        self.chunks += 1
        self.bytes += size + CHUNK // 8
        return 1

    cdef int rehash(self) noexcept nogil:
        """Double the hash table; 0 if that would take too much memory."""
        cdef uint64_t old = self.hash_mask + 1, h, i, j
        cdef uint32_t entry, was = (<uint32_t>1 << self.index_bits) - 1
        cdef uint32_t *smaller = self.hash_table
        cdef uint32_t *larger
        if self.bytes + <int64_t>old * 8 > self.max_bytes:
            return 0
        larger = <uint32_t *>calloc(2 * old, 4)
        if larger == NULL:
            return 0
        self.hash_mask = 2 * old - 1
        self.index_bits += 1
        for i in range(old):
            entry = smaller[i + AHEAD] & was if i + AHEAD < old else 0
            if entry:
                prefetch(self.at(entry - 1))
            entry = smaller[i] & was
            if entry:
                h = hash_words(self.at(entry - 1), self.words)
                j = h & self.hash_mask
                while larger[j]:
                    j = (j + 1) & self.hash_mask
                larger[j] = (<uint32_t>(h >> 32) & ~((<uint32_t>1 << self.index_bits) - 1)) | entry
        self.hash_table = larger
        self.bytes += <int64_t>old * 4
        free(smaller)
        return 1


cdef inline bint _before(uint64_t a, uint64_t b) noexcept nogil:
    cdef int m = count_bits(a), n = count_bits(b)
    return m < n or (m == n and a < b)
