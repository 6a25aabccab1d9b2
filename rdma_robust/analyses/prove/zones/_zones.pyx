# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled twin of zone_matrix.py: a zone is a bytes object with a closed matrix of 32-bit numbers.

A piece of code that could lead to a number beyond them is refused with OverflowError when it is compiled; then the whole
search is done in Python. Nothing is allocated but Python's objects: matrices are worked on on the stack.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

LAYOUT = 2
"""To be raised with every change of ZoneCode and ZoneOp."""

cdef enum:
    BOUND, MOVE, SHIFT, FORGET, FOLD, COPY, LINEAR

cdef enum:
    MOST_ROWS = 64
    FORM_ROOM = 4

cdef int32_t INF = (1 << 30) - 1
cdef int64_t LARGEST = (1 << 29) - 1
cdef int64_t LARGEST_OPERAND = 1 << 24


cdef inline int32_t plus(int32_t a, int32_t b) noexcept nogil:
    return INF if a == INF else a + b


def of_values(values, int64_t clip):
    """Return the zone in which the variables have these values, clipped. Raises OverflowError."""
    cdef int32_t[MOST_ROWS] points
    cdef int32_t[MOST_ROWS * MOST_ROWS] work
    cdef int rows = len(values) + 1, i, j
    if rows > MOST_ROWS or clip > LARGEST_OPERAND:
        raise OverflowError
    points[0] = 0
    for i in range(1, rows):
        if abs(values[i - 1]) > LARGEST // 2:
            raise OverflowError
        points[i] = values[i - 1]
    for i in range(rows):
        for j in range(rows):
            work[i * rows + j] = points[i] - points[j]
    clip_and_close(work, rows, <int32_t>clip)
    return PyBytes_FromStringAndSize(<char *>work, rows * rows * 4)


def entries(bytes zone not None):
    """Return the entries row by row, None for infinity."""
    cdef int32_t *at = <int32_t *>PyBytes_AS_STRING(zone)
    return [None if at[i] == INF else at[i] for i in range(len(zone) // 4)]


cdef inline bint within(const int32_t *small, const int32_t *large, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        if small[i] > large[i]:
            return False
    return True


def included(bytes small not None, bytes large not None):
    """Return whether every point of one zone is in the other, over the same variables."""
    cdef Py_ssize_t size = PyBytes_GET_SIZE(small)
    if size != PyBytes_GET_SIZE(large):
        raise ValueError("zones of different variables")
    return bool(within(<int32_t *>PyBytes_AS_STRING(small), <int32_t *>PyBytes_AS_STRING(large), size // 4))


def smaller(bytes zone not None, list kept not None):
    """Return the kept zones that a zone includes."""
    return [other for other in kept if included(other, zone)]


cdef class compiled:
    """What runs a piece of code on a zone and returns the zone after, None if it is empty. Raises OverflowError."""

    cdef int rows, before, after, length
    cdef int32_t clip
    cdef bint keeps
    cdef bytes source_bytes, target_bytes, op_bytes
    cdef int32_t *source
    cdef int32_t *target
    cdef int32_t *ops

    def __init__(self, code):
        if code.rows > MOST_ROWS or len(code.target) >= MOST_ROWS or code.clip > LARGEST_OPERAND:
            raise OverflowError
        if any(abs(number) > LARGEST_OPERAND for number in code.ops):
            raise OverflowError
        # An entry is a sum along a path without a circle over clipped numbers, and what operations add to those.
        if code.rows * (code.clip * (1 + FORM_ROOM * code.forms) + code.moved) > LARGEST:
            raise OverflowError
        self.rows, self.clip, self.keeps = code.rows, code.clip, code.keeps
        self.before = 1
        for row in code.source:
            self.before = max(self.before, row + 1)
        self.after, self.length = len(code.target) + 1, len(code.ops)
        self.source_bytes, self.target_bytes = _numbers((0, *code.source)), _numbers((0, *code.target))
        self.op_bytes = _numbers(code.ops)
        self.source = <int32_t *>PyBytes_AS_STRING(self.source_bytes)
        self.target = <int32_t *>PyBytes_AS_STRING(self.target_bytes)
        self.ops = <int32_t *>PyBytes_AS_STRING(self.op_bytes)

    def __call__(self, bytes zone not None, list kept not None=[]):
        """True if the zone after, clipped or not, is in one of the kept ones."""
        cdef int32_t[MOST_ROWS * MOST_ROWS] work
        cdef int32_t[MOST_ROWS * MOST_ROWS] out
        cdef Py_ssize_t size = self.after * self.after
        if PyBytes_GET_SIZE(zone) != 4 * self.before * self.before:
            raise ValueError("a zone of other variables")
        if self.keeps:
            return True if kept_within(<int32_t *>PyBytes_AS_STRING(zone), size, kept) else zone
        load(work, <int32_t *>PyBytes_AS_STRING(zone), self.before, self.source, self.rows)
        if not execute(work, self.rows, self.ops, self.length, self.clip):
            return None
        load(out, work, self.rows, self.target, self.after)
        if kept_within(out, size, kept):
            return True
        if clip_and_close(out, self.after, self.clip) and kept_within(out, size, kept):
            return True
        return PyBytes_FromStringAndSize(<char *>out, 4 * size)


cdef bint kept_within(const int32_t *zone, Py_ssize_t size, list kept) except -1:
    """Whether a kept zone includes this one. It goes to the front: it may include the next one too."""
    cdef Py_ssize_t i
    cdef bytes large
    for i in range(len(kept)):
        large = kept[i]
        if PyBytes_GET_SIZE(large) != 4 * size:
            raise ValueError("zones of different variables")
        if within(zone, <int32_t *>PyBytes_AS_STRING(large), size):
            if i:
                kept[i], kept[0] = kept[0], large
            return True
    return False


cdef bytes _numbers(numbers):
    cdef bytes made = PyBytes_FromStringAndSize(NULL, 4 * len(numbers))
    cdef int32_t *at = <int32_t *>PyBytes_AS_STRING(made)
    cdef Py_ssize_t i = 0
    for number in numbers:
        at[i] = number
        i += 1
    return made


cdef void load(int32_t *to, const int32_t *zone, int size, const int32_t *rows, int count) noexcept nogil:
    """The matrix of these rows of another, -1 for a row without bounds."""
    cdef int i, j
    for i in range(count):
        for j in range(count):
            to[i * count + j] = zone[rows[i] * size + rows[j]] if rows[i] >= 0 and rows[j] >= 0 else INF
        to[i * count + i] = 0


cdef bint clip_and_close(int32_t *work, int n, int32_t clip) noexcept nogil:
    """Whether the zone has changed."""
    cdef int i, k
    cdef int32_t first
    cdef bint changed = False
    for i in range(n * n):
        if work[i] > clip:
            if work[i] != INF:
                work[i] = INF
                changed = True
        elif work[i] < -clip:
            work[i] = -clip
            changed = True
    if not changed:
        return False
    for k in range(n):
        for i in range(n):
            first = work[i * n + k]
            if first != INF and i != k:
                add_way(work + i * n, first, work + k * n, n)
    return True


cdef inline void add_way(int32_t *row, int32_t first, const int32_t *then, int n) noexcept nogil:
    """Shorten the paths of a row by those that go on from the end of a first step."""
    cdef int j
    cdef int32_t way
    for j in range(n):
        way = first + then[j] if then[j] != INF else INF
        row[j] = way if way < row[j] else row[j]


cdef bint bounded(int32_t *work, int n, int i, int j, int32_t c) noexcept nogil:
    """Suppose x_i - x_j <= c and close; False: no point is left."""
    cdef int a
    if work[i * n + j] <= c:
        return True
    if work[j * n + i] != INF and work[j * n + i] + c < 0:
        return False
    for a in range(n):
        if work[a * n + i] != INF:
            add_way(work + a * n, work[a * n + i] + c, work + j * n, n)
    return True


cdef bint execute(int32_t *work, int n, const int32_t *op, int length, int32_t clip) noexcept nogil:
    """Run operations on a matrix of n rows; False if the zone is empty then."""
    cdef const int32_t *end = op + length
    cdef int i, j, k
    cdef int32_t c
    cdef int64_t bound
    while op < end:
        i = op[1]
        if op[0] == BOUND:
            if not bounded(work, n, i, op[2], op[3]):
                return False
            op += 4
        elif op[0] == MOVE:
            j, c = op[2], op[3]
            for k in range(n):
                work[i * n + k] = plus(work[j * n + k], c)
                work[k * n + i] = plus(work[k * n + j], -c)
            work[i * n + j], work[j * n + i], work[i * n + i] = c, -c, 0
            op += 4
        elif op[0] == SHIFT:
            c = op[2]
            for k in range(n):
                work[i * n + k] = plus(work[i * n + k], c)
                work[k * n + i] = plus(work[k * n + i], -c)
            work[i * n + i] = 0
            op += 3
        elif op[0] == FORGET:
            for k in range(n):
                work[i * n + k] = work[k * n + i] = INF
            work[i * n + i] = 0
            op += 2
        elif op[0] == FOLD:
            fold(work, n, i, op[2], op[3])
            op += 4
        elif op[0] == COPY:
            copy(work, n, i, op[2])
            op += 3
        else:
            bound = upper(work, n, op + 6, op[5])
            if bound < <int64_t>1 << 62:
                bound = floor_divided(bound + op[3], op[4])
                if bound <= FORM_ROOM * <int64_t>clip:
                    if bound < -FORM_ROOM * <int64_t>clip:
                        bound = -FORM_ROOM * <int64_t>clip
                    if not bounded(work, n, i, op[2], <int32_t>bound):
                        return False
            op += 6 + 2 * op[5]
    return True


cdef inline int64_t floor_divided(int64_t a, int64_t by) noexcept nogil:
    return a / by - (1 if a % by < 0 else 0)


cdef void fold(int32_t *work, int n, int i, int j, int32_t c) noexcept nogil:
    cdef int k
    cdef int32_t other
    for k in range(n):
        if k != i:
            other = plus(work[j * n + k], c)
            work[i * n + k] = other if other > work[i * n + k] else work[i * n + k]
            other = plus(work[k * n + j], -c)
            work[k * n + i] = other if other > work[k * n + i] else work[k * n + i]


cdef void copy(int32_t *work, int n, int i, int j) noexcept nogil:
    cdef int k
    cdef int32_t apart = INF, way
    for k in range(n):
        if k != i and k != j:
            work[i * n + k] = work[j * n + k]
            work[k * n + i] = work[k * n + j]
            if work[j * n + k] != INF:
                way = plus(work[k * n + j], work[j * n + k])
                if way < apart:
                    apart = way
    work[i * n + j] = work[j * n + i] = apart
    work[i * n + i] = 0


cdef int64_t upper(const int32_t *work, int n, const int32_t *term, int count) noexcept nogil:
    """A bound from above of the sum of a * x_k, 2**62 for none."""
    cdef int64_t total = 0
    cdef int32_t entry
    cdef int t
    if count == 2 and term[0] == 1 and term[2] == -1:
        entry = work[term[1] * n + term[3]]
        return <int64_t>1 << 62 if entry == INF else entry
    for t in range(count):
        entry = work[term[2 * t + 1] * n] if term[2 * t] > 0 else work[term[2 * t + 1]]
        if entry == INF:
            return <int64_t>1 << 62
        total += (<int64_t>term[2 * t] if term[2 * t] > 0 else -<int64_t>term[2 * t]) * entry
    return total
