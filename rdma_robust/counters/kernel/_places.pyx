# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What every process does where it can be: its code, its footprints; and which processes it is enough to move next.

The locations of the processes are the first of the slots that methods take.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free

from rdma_robust.counters.kernel._packed cimport count_bits, lowest
from rdma_robust.native.memory cimport refuse, zeroed


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Places:
    """Of the locations of every process p nothing is known yet but their `numbers[p]`. Raises MemoryError."""

    def __init__(self, list numbers):
        cdef int i, j
        self.place = <Place **>zeroed(len(numbers), sizeof(Place *))
        self.processes = len(numbers)
        for i in range(self.processes):
            self.place[i] = <Place *>zeroed(len(numbers[i]), sizeof(Place))
            for j, number in enumerate(numbers[i]):
                self.place[i][j].target, self.place[i][j].number = -1, number
        self.global_target = -1

    def __dealloc__(self):
        cdef int i
        for i in range(self.processes):
            free(self.place[i])
        free(self.place)

    def set_place(self, int process, int location, int code, tuple footprints, bint local):
        """Say what a process does at a location: where its code starts, -1 for none."""
        cdef Place *p = &self.place[process][location]
        p.code, p.local, p.known = code, local, 1
        p.next_reads, p.next_writes, p.reads, p.writes = footprints

    def set_target(self, int process, int location, int code):
        """Say where the test of the targets starts that need a process at a location, or (process -1) that need none."""
        if process < 0:
            self.global_target = code
        else:
            self.place[process][location].target = code

    cdef int unknown(self, int64_t *slot) noexcept nogil:
        """A process at a location of which not all is known, or -1."""
        cdef int p
        for p in range(self.processes):
            if not self.place[p][slot[p]].known:
                return p
        return -1

    cdef int clusters(self, int64_t *slot, uint64_t *members, uint64_t everything) noexcept nogil:
        """Write the closed sets but the last, as independence.py says; return how many there are."""
        cdef uint64_t disturbed[64]
        cdef uint64_t grown, new
        cdef int p, i, count = 0
        self.disturb(slot, disturbed)
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

    cdef void disturb(self, int64_t *slot, uint64_t *disturbed) noexcept nogil:
        """For every process find the others whose future conflicts with what it does next."""
        cdef uint64_t every[64]
        cdef uint64_t writes[64]
        cdef uint64_t reads_next, writes_next, found
        cdef Place *here
        cdef int p, q
        for p in range(self.processes):
            here = &self.place[p][slot[p]]
            writes[p] = here.writes
            every[p] = here.reads | here.writes
        for p in range(self.processes):
            here = &self.place[p][slot[p]]
            reads_next, writes_next, found = here.next_reads, here.next_writes, 0
            if reads_next | writes_next:
                for q in range(self.processes):
                    found |= <uint64_t>((writes_next & every[q] | reads_next & writes[q]) != 0) << q
            disturbed[p] = found


cdef inline bint _before(uint64_t a, uint64_t b) noexcept nogil:
    cdef int m = count_bits(a), n = count_bits(b)
    return m < n or (m == n and a < b)
