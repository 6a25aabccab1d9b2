# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The vectors of a net as arrays, and the transitions by the place that they wait for."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free

from rdma_robust.native.memory cimport refuse, zeroed
from rdma_robust.petri.kernel.numbers cimport change


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Rows:
    """Rows of (index, value) pairs, one after the other."""

    def __cinit__(self, rows):
        cdef int64_t at = 0, total = sum(len(row) for row in rows)
        cdef int i = 0
        if total > 0x7FFFFFFF:
            raise OverflowError("the net is too large for the compiled kernel")
        self.count = len(rows)
        self.start = <int *>zeroed(self.count + 1, sizeof(int))
        self.index = <int *>zeroed(total, sizeof(int))
        self.value = <int64_t *>zeroed(total, sizeof(int64_t))
        for row in rows:
            self.start[i] = at
            i += 1
            for p, k in row:
                self.index[at] = p
                self.value[at] = change(k)
                at += 1
        self.start[i] = at

    def __dealloc__(self):
        free(self.start)
        free(self.index)
        free(self.value)


cdef class Waiting:
    """Where a transition is looked for: at the place of its guard that the fewest guards ask for."""

    def __cinit__(self, list guards, int places):
        cdef int t
        uses = [0] * places
        waiting = [[] for _ in range(places)]
        self.always = []
        for guard in guards:
            for p, _ in guard:
                uses[p] += 1
        for t, guard in enumerate(guards):
            if guard:
                waiting[min((uses[p], p) for p, _ in guard)[1]].append((t, 0))
            else:
                self.always.append(t)
        self.at = Rows(waiting)
