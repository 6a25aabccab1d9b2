# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Runs the three-address code that bytecode.py makes: from a state in slots to its successors in a buffer of records."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._packed cimport HUGE, LOW, MISSING, OMEGA, Field, field_value, made_fields
from rdma_robust.counters.kernel._pairs cimport fetch
from rdma_robust.counters.kernel._store cimport Folder
from rdma_robust.native.memory cimport refuse, resized, try_grown

def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Code:
    """No code yet, for records with these fields. Raises MemoryError."""

    def __init__(self, int words, list fields, int counters):
        self.words, self.counters, self.fields = words, counters, len(fields)
        self.record = words + 1 + (1 + counters if counters else 0)
        self.field = made_fields(fields)

    def __dealloc__(self):
        free(self.field); free(self.code); free(self.slot); free(self.leaf); free(self.change); free(self.effect)
        free(self.table); free(self.fired_bits); free(self.buffer); free(self.roots)

    def load(self, code, slots, leaves, changes, effects, table, int64_t labels):
        """Take the whole text again, arrays that have grown. `leaves` has (start in changes, label, effect) triples."""
        cdef int64_t old = (self.labels + 7) // 8, new = (labels + 7) // 8, count = len(leaves)
        self.code = <int32_t *>_copied(self.code, code, 4)
        self.slot = <int64_t *>_copied(self.slot, slots, 8)
        self.leaf = <int32_t *>_copied(self.leaf, leaves, 4)
        self.leaf[count] = len(changes) // 2
        self.change = <int32_t *>_copied(self.change, changes, 4)
        self.effect = <int64_t *>_copied(self.effect, effects, 8)
        self.table = <uint64_t *>_copied(self.table, table, 8)
        self.fired_bits = <uint8_t *>resized(self.fired_bits, new + 1, 1)
        memset(self.fired_bits + old, 0, new + 1 - old)
        self.labels = labels

    def fired(self):
        """Return the labels that were ever enabled."""
        return [i for i in range(self.labels) if self.fired_bits[i >> 3] >> (i & 7) & 1]

    cdef void fire(self, int64_t label) noexcept nogil:
        self.fired_bits[label >> 3] |= 1 << (label & 7)

    cdef void unpack(self, uint64_t *r) noexcept nogil:
        cdef int i
        cdef Field *f = self.field
        cdef int64_t *slot = self.slot
        for i in range(self.fields):
            slot[i] = field_value(r, &f[i])

    cdef int execute(self, int64_t number, uint64_t *parent, int64_t pc) noexcept nogil:
        """Run code on the slots, which have the fields of `parent`: successors go to the buffer.

        A negative status on trouble, else 1 + an accepted target or 0.
        """
        cdef int64_t *v = self.slot
        cdef int32_t *c
        cdef int64_t back = 0
        cdef int32_t op
        cdef int status
        while True:
            c = self.code + 4 * pc
            op = c[0]
            pc += 1
            if op == JZ:
                if v[c[2]] == 0:
                    pc = c[1]
            elif op == ITE:
                v[c[1]] = v[c[3]] if v[c[2]] != 0 else v[c[4]]
                pc += 1
            elif op == BIT:
                v[c[1]] = self.table[c[2] + (v[c[3]] >> 6)] >> (v[c[3]] & 63) & 1
            elif op == JMP:
                pc = c[1]
            elif op == CALL:
                back = pc
                pc = c[1]
            elif op == RET:
                pc = back
            elif op == EMIT:
                status = self.emit(number, parent, c[1], c[2])
                if status < 0:
                    return status
            elif op == ACCEPT:
                return 1 + c[1]
            elif op == LATER:
                self.wanted = c[1]
                return -CODE
            elif op == END:
                return 0
            else:
                v[c[1]] = value_of(op, v[c[2]], v[c[3]])

    cdef int emit(self, int64_t number, uint64_t *parent, int32_t leaf, int32_t option) noexcept nogil:
        """Put a successor into the buffer, if the counters allow it."""
        cdef uint64_t *r
        cdef uint64_t value
        cdef Field *f
        cdef int32_t i
        cdef int64_t label = self.leaf[3 * leaf + 1]
        cdef int64_t *effect
        cdef int64_t have
        if self.size == self.room and not self.more_room():
            return -MEMORY
        r = self.buffer + self.size * self.record
        memcpy(r, parent, self.words * 8)
        for i in range(self.leaf[3 * leaf], self.leaf[3 * leaf + 3]):
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
            effect = self.effect + 2 * self.counters * <int64_t>self.leaf[3 * leaf + 2]
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
        self.size += 1
        return 0

    cdef bint fold_all(self, Folder folder, bint along) noexcept nogil:
        """Find the roots of the successors that may be stored, MISSING where a part is new; False if there is no memory.

        `along` says that each resembles the one before more than the state that is unfolded.
        """
        cdef int64_t s
        cdef uint64_t *r
        cdef void *made = try_grown(self.roots, &self.root_room, self.size, 8)
        if made == NULL:
            return not self.size
        self.roots = <uint64_t *>made
        for s in range(self.size):
            r = self.buffer + s * self.record
            if r[self.words] & LOW != LOW:
                if folder.fold(r, False, &self.roots[s]):
                    fetch(folder.roots, self.roots[s])
                    if along:
                        folder.rebase(r, self.roots[s])
                else:
                    self.roots[s] = MISSING
        return True

    cdef bint more_room(self) noexcept nogil:
        """Make room for another record in the buffer; False if there is no memory."""
        cdef void *made = try_grown(self.buffer, &self.room, self.size + 1, self.record * 8)
        if made == NULL:
            return False
        self.buffer = <uint64_t *>made
        return True


cdef inline int64_t value_of(int32_t op, int64_t a, int64_t b) noexcept nogil:
    """What an operation makes of two numbers; those that take one ignore the other."""
    if op == AND:
        return a & b
    elif op == OR:
        return a | b
    elif op == ANDN:
        return a & ~b
    elif op == EQ:
        return a == b
    elif op == NE:
        return a != b
    elif op == LT:
        return a < b
    elif op == LE:
        return a <= b
    elif op == NOT:
        return a == 0
    elif op == LAND:
        return a != 0 and b != 0
    elif op == LOR:
        return a != 0 or b != 0
    elif op == ADD:
        return a + b
    elif op == SUB:
        return a - b
    elif op == MUL:
        return a * b
    elif op == DIV:
        return a / b if b != 0 else 0
    elif op == MOD:
        return a % b if b != 0 else 0
    elif op == SHR:
        return a >> (b if b < 63 else 63)
    return a  # MOV


cdef void *_copied(void *block, numbers, int size) except NULL:
    """The block with a copy of an array of numbers, and room for some more."""
    cdef const uint8_t[::1] bytes_ = memoryview(numbers).cast("B") if len(numbers) else None
    cdef void *made = resized(block, len(numbers) + 4, size)
    if bytes_ is not None:
        memcpy(made, &bytes_[0], bytes_.shape[0])
    return made
