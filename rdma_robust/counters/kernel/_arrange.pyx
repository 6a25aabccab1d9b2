# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sorts the blocks of packed states that can be exchanged: permutations.py says what that means.

It follows tables that arrangement.py makes, whose columns are named below. All values are those of packed fields.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from rdma_robust.counters.kernel._packed cimport LOW
from rdma_robust.native.memory cimport refuse, resized, zeroed

cdef enum:
    # of a group: its blocks, the words of a key, its first exchange, its first key, the keys of a block
    SIZE, KEY_WORDS, FIRST_PAIR, FIRST_KEY, KEYS, GROUP_COLUMNS
    # of a trade: word, shift and mask of one part and of the other, codes there and back, conditions
    ONE = 0, ONE_SHIFT, MASK, OTHER, OTHER_SHIFT, CODES, CODE_COUNT, BACK, BACK_COUNT, WHEN, WHEN_COUNT, ALONE, TRADE_COLUMNS
    # of a key: word, shift, mask, codes, what others become (-1: what they are), where it goes
    KEY = 0, KEY_SHIFT, KEY_MASK, KEY_CODES, KEY_CODE_COUNT, OTHERWISE, TO, TO_SHIFT, KEY_COLUMNS


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Arrange:
    """The tables for records of so many words; `most` is the words that the keys of a group need. Raises MemoryError."""

    def __init__(
        self, int words, int most, int64_t[::1] groups, int64_t[::1] pairs, int64_t[::1] trades, int64_t[::1] codes,
        int64_t[::1] whens, int64_t[::1] keys,
    ):
        self.words, self.groups = words, groups.shape[0] // GROUP_COLUMNS
        self.group, self.pair, self.trade = _copy(groups), _copy(pairs), _copy(trades)
        self.code, self.when, self.key = _copy(codes), _copy(whens), _copy(keys)
        self.old = <uint64_t *>zeroed(words, 8)
        self.found = <uint64_t *>zeroed(most, 8)

    def __dealloc__(self):
        free(self.group); free(self.pair); free(self.trade); free(self.code); free(self.when); free(self.key)
        free(self.old); free(self.found)

    cdef void arrange(self, uint64_t *record) noexcept nogil:
        """Replace the fields of a record by those of the image that is kept."""
        cdef int g
        cdef int64_t place, least, other, size, words, k
        cdef int64_t *group
        cdef int64_t *pair
        cdef uint64_t swapped
        for g in range(self.groups):
            group = self.group + g * GROUP_COLUMNS
            size, words = group[SIZE], group[KEY_WORDS]
            self.read_keys(record, group)
            for place in range(size - 1):
                least = place
                for other in range(place + 1, size):
                    if _before(self.found + other * words, self.found + least * words, words):
                        least = other
                if least != place:
                    for k in range(words):
                        swapped = self.found[place * words + k]
                        self.found[place * words + k] = self.found[least * words + k]
                        self.found[least * words + k] = swapped
                    pair = self.pair + 2 * (group[FIRST_PAIR] + place * size + least)
                    self.exchange(record, pair[0], pair[1])

    cdef void arrange_all(self, uint64_t *buffer, int64_t count, int record) noexcept nogil:
        """Do so with the records in a buffer, but those without a parent, which are not stored."""
        cdef int64_t i
        for i in range(count):
            if buffer[i * record + self.words] & LOW != LOW:
                self.arrange(buffer + i * record)

    cdef void read_keys(self, uint64_t *record, int64_t *group) noexcept nogil:
        """Find by what each block of a group is sorted."""
        cdef int64_t i, block, to
        cdef int64_t *k = self.key + group[FIRST_KEY] * KEY_COLUMNS
        cdef uint64_t raw, value
        for i in range(group[SIZE] * group[KEY_WORDS]):
            self.found[i] = 0
        for block in range(group[SIZE]):
            to = block * group[KEY_WORDS]
            for i in range(group[KEYS]):
                raw = value = record[k[KEY]] >> k[KEY_SHIFT] & <uint64_t>k[KEY_MASK]
                if k[KEY_CODE_COUNT]:
                    value = self.coded(raw, k[KEY_CODES], k[KEY_CODE_COUNT])
                    if k[OTHERWISE] >= 0 and value == ~<uint64_t>0:
                        value = <uint64_t>k[OTHERWISE]
                    elif value == ~<uint64_t>0:
                        value = raw
                elif k[OTHERWISE] >= 0:
                    value = <uint64_t>k[OTHERWISE]
                self.found[to + k[TO]] |= value << k[TO_SHIFT]
                k += KEY_COLUMNS

    cdef void exchange(self, uint64_t *record, int64_t first, int64_t end) noexcept nogil:
        """Make the trades with these numbers, all at once."""
        cdef int64_t i
        cdef int64_t *t
        cdef uint64_t one, other, new
        memcpy(self.old, record, self.words * 8)
        for i in range(first, end):
            t = self.trade + i * TRADE_COLUMNS
            if t[WHEN_COUNT] and not self.applies(t):
                continue
            one = self.old[t[ONE]] >> t[ONE_SHIFT] & <uint64_t>t[MASK]
            other = self.old[t[OTHER]] >> t[OTHER_SHIFT] & <uint64_t>t[MASK]
            new = self.coded(one, t[CODES], t[CODE_COUNT]) if t[CODE_COUNT] else one
            if new == ~<uint64_t>0:
                new = one
            record[t[OTHER]] += (new - other) << t[OTHER_SHIFT]
            if not t[ALONE]:
                new = self.coded(other, t[BACK], t[BACK_COUNT]) if t[BACK_COUNT] else other
                if new == ~<uint64_t>0:
                    new = other
                record[t[ONE]] += (new - one) << t[ONE_SHIFT]

    cdef bint applies(self, int64_t *trade) noexcept nogil:
        """All conditions of a trade held before."""
        cdef int64_t i
        cdef int64_t *w
        for i in range(trade[WHEN], trade[WHEN] + trade[WHEN_COUNT]):
            w = self.when + 4 * i
            if self.old[w[0]] >> w[1] & <uint64_t>w[2] != <uint64_t>w[3]:
                return False
        return True

    cdef uint64_t coded(self, uint64_t value, int64_t first, int64_t count) noexcept nogil:
        """What a value becomes, all ones if that is not said."""
        cdef int64_t i
        for i in range(first, first + count):
            if <uint64_t>self.code[2 * i] == value:
                return <uint64_t>self.code[2 * i + 1]
        return ~<uint64_t>0


cdef inline bint _before(uint64_t *a, uint64_t *b, int64_t words) noexcept nogil:
    cdef int64_t k
    for k in range(words):
        if a[k] != b[k]:
            return a[k] < b[k]
    return False


cdef int64_t *_copy(int64_t[::1] numbers) except NULL:
    cdef int64_t *made = <int64_t *>resized(NULL, numbers.shape[0] + 1, 8)
    if numbers.shape[0]:
        memcpy(made, &numbers[0], numbers.shape[0] * 8)
    return made
