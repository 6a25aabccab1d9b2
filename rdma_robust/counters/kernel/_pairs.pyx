# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Words with numbers: each word that is added gets the next one, and is found by its value.

The words are in chunks, each with a number of a parent and room for more words where there is some. The hash table is
open-addressing, of 32-bit entries: the number and one more and, in the bits that leaves, a part of the hash. A word is
written before its entry, and an entry never changes (but by `renew`), so several threads may add and find words at once;
nobody may while a table is enlarged. Threads take numbers by the handful: each writes its words to lines of memory of its
own, and all seldom to what they all read. Source: Laarman, van de Pol and Weber, Boosting multi-core reachability
performance with shared hash tables, 2010.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from rdma_robust.counters.kernel._packed cimport prefetch
from rdma_robust.counters.kernel._team cimport pthread_mutex_lock, pthread_mutex_unlock
from rdma_robust.native.memory cimport refuse, try_resized, try_zeroed, zeroed

cdef uint64_t AHEAD = 16
"""Entries between the one that moves to a larger table and the one whose word is fetched meanwhile."""
cdef int64_t HANDFUL = 64
"""Numbers that a thread takes at once."""
cdef int64_t PART = 1 << 14
"""Entries of a hash table that a thread moves to a larger one at once."""


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Pairs:
    """No words yet, at most `most`, each with a parent if `linked`, and with `extra` words. Raises MemoryError."""

    def __init__(self, int64_t most, bint linked=False, int extra=0):
        self.index = <uint32_t *>zeroed(1 << 10, sizeof(uint32_t))
        self.mask, self.numbers = (1 << 10) - 1, (1 << 10) - 1
        self.each = 8 + (4 if linked else 0) + 8 * extra
        self.most = most

    cdef void account(self, Budget *budget) noexcept nogil:
        """Take memory from a budget, from now on and what has been taken."""
        self.budget = budget
        budget.bytes += <int64_t>(self.mask + 1) * sizeof(uint32_t)

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.chunks):
            free(self.chunk[i])
        free(self.chunk); free(self.index)

    cdef int64_t unused(self, Numbers *spare) noexcept nogil:
        """The next of the numbers that this thread has taken and not used, with room for it; -1 if there is none."""
        cdef int64_t count = 1
        if spare.next == spare.end:
            # Near to a limit one by one, so that it is not numbers that others have left over what ends a search.
            if self.team is not None and look(&self.size) + self.team.workers * HANDFUL * 4 < self.most:
                count = HANDFUL
            spare.next = counted(&self.size, count)
            spare.end = spare.next + count
        return spare.next if spare.next < room_of(&self.room) or self.enlarge(spare.next) else -1

    cdef int64_t add(self, uint64_t word, uint32_t parent, Numbers *spare) noexcept nogil:
        """The number of a word: one that it has, as -2 - number, or a new one. -1 if that would take too much memory.

        `spare` are the numbers that this thread has taken and not used.
        """
        cdef uint64_t h = mixed(word), i
        cdef uint32_t entry, new
        cdef int64_t number = self.unused(spare)
        if number < 0:
            return -1
        word_at(self, number)[0] = word
        if self.each > 8:
            parent_of(self, number)[0] = parent
        new = (<uint32_t>(h >> 32) & ~self.numbers) | <uint32_t>(number + 1)
        i = h & self.mask
        while True:
            entry = entered(&self.index[i], new) if seen(&self.index[i]) == 0 else seen(&self.index[i])
            if entry == 0:
                spare.next += 1
                return number
            if ((entry ^ new) & ~self.numbers) == 0 and word_at(self, (entry & self.numbers) - 1)[0] == word:
                return -2 - <int64_t>((entry & self.numbers) - 1)
            i = (i + 1) & self.mask

    cdef int64_t renew(self, uint64_t word, uint32_t parent, Numbers *spare) noexcept nogil:
        """A new number for a word that has one, by which it is found from now on; -1 if that would take too much memory."""
        cdef uint64_t h = mixed(word), i
        cdef uint32_t tag, entry
        cdef int64_t number = self.unused(spare)
        if number < 0:
            return -1
        spare.next += 1
        word_at(self, number)[0] = word
        parent_of(self, number)[0] = parent
        tag = <uint32_t>(h >> 32) & ~self.numbers
        i = h & self.mask
        while True:
            entry = self.index[i]
            if (entry & ~self.numbers) == tag and word_at(self, (entry & self.numbers) - 1)[0] == word:
                self.index[i] = tag | <uint32_t>(number + 1)
                return number
            i = (i + 1) & self.mask

    cdef object save(self, int64_t count, write):
        """Hand the first words to `write`, with their parents if there are any, a chunk at a time. Not with more words."""
        cdef int64_t first, size
        for first in range(0, count, CHUNK):
            size = min(CHUNK, count - first)
            write(PyBytes_FromStringAndSize(<char *>word_at(self, first), 8 * size))
            if self.each > 8:
                write(PyBytes_FromStringAndSize(<char *>parent_of(self, first), 4 * size))

    cdef object restore(self, int64_t count, read, Numbers *spare):
        """Take so many words as :meth:`save` has handed them over, into an empty table.

        Raises MemoryError, ValueError if they are not so many different ones.
        """
        cdef int64_t first, size, i, number
        cdef const unsigned char[::1] words, parents
        cdef uint64_t word
        cdef uint32_t parent = 0
        for first in range(0, count, CHUNK):
            size = min(CHUNK, count - first)
            words = read(8 * size)
            parents = read(4 * size) if self.each > 8 else words
            for i in range(size):
                memcpy(&word, &words[8 * i], 8)
                if self.each > 8:
                    memcpy(&parent, &parents[4 * i], 4)
                number = self.add(word, parent, spare)
                if number == -1:
                    raise MemoryError
                if number != first + i:
                    raise ValueError("a word is there twice")

    cdef bint enlarge(self, int64_t number) noexcept nogil:
        """Make room for this number, others may work meanwhile; False if there is none."""
        cdef bint made
        if self.team is None:
            return self.make_room(number)
        pthread_mutex_lock(&self.team.growth)
        made = self.lengthen(number)
        pthread_mutex_unlock(&self.team.growth)
        if not made and number < self.most:
            self.team.alone()
            made = self.make_room(number)
            self.team.go_on()
        return made

    cdef bint reserve(self) noexcept nogil:
        """Have places for all chunks that there can be, so that they never move; False if there is no memory."""
        cdef int64_t room = (self.most >> CHUNK_BITS) + 1
        cdef void *made = try_resized(self.chunk, room, sizeof(uint64_t *))
        if made == NULL:
            return False
        self.chunk, self.chunk_room = <uint64_t **>made, room
        return True

    cdef bint make_room(self, int64_t number) noexcept nogil:
        """Make room for this number, while nobody else works; False if there is none."""
        while number < self.most and not self.lengthen(number):
            if <uint64_t>number * 4 < (self.mask + 1) * 3 or not self.rehash():
                return False
        return number < self.most

    cdef bint lengthen(self, int64_t number) noexcept nogil:
        """Make room for this number where the hash table need not grow; False if it must, or if there is none."""
        if number >= self.most or <uint64_t>number * 4 >= (self.mask + 1) * 3:
            return False
        while number >= self.chunks * CHUNK:
            if not self.new_chunk():
                return False
        set_room(&self.room, min(self.chunks * CHUNK, <int64_t>(self.mask + 1) * 3 // 4, self.most))
        return True

    cdef bint new_chunk(self) noexcept nogil:
        """Make room for more words; False if that would take too much memory."""
        cdef int64_t room = 2 * self.chunk_room + 64
        cdef void *made
        if self.budget.bytes + CHUNK * self.each > self.budget.most:
            return False
        if self.chunks == self.chunk_room:
            made = try_resized(self.chunk, room, sizeof(uint64_t *))
            if made == NULL:
                return False
            self.chunk = <uint64_t **>made
            self.chunk_room = room
        made = try_resized(NULL, CHUNK, self.each)
        if made == NULL:
            return False
        self.chunk[self.chunks] = <uint64_t *>made
        self.chunks += 1
        self.budget.bytes += CHUNK * self.each
        return True

    cdef bint rehash(self) noexcept nogil:
        """Double the hash table; False if that would take too much memory."""
        cdef Doubling doubling
        cdef int64_t old = self.mask + 1, i, parts = (old + PART - 1) // PART
        if self.budget.bytes + old * 8 > self.budget.most:
            return False
        doubling.larger = <uint32_t *>try_zeroed(2 * old, sizeof(uint32_t))
        if doubling.larger == NULL:
            return False
        doubling.chunk, doubling.smaller, doubling.old = self.chunk, self.index, old
        if self.team is None:
            for i in range(parts):
                double_part(&doubling, i)
        else:
            self.team.share(double_part, &doubling, parts)
        free(self.index)
        self.index, self.mask, self.numbers = doubling.larger, 2 * old - 1, <uint32_t>(2 * old - 1)
        self.budget.bytes += old * 4
        return True


cdef struct Doubling:
    uint64_t **chunk
    uint32_t *smaller
    uint32_t *larger
    uint64_t old


cdef void double_part(void *work, int64_t part) noexcept nogil:
    """Enter what a part of the smaller hash table has into the larger one."""
    cdef Doubling *doubling = <Doubling *>work
    cdef uint32_t *smaller = doubling.smaller
    cdef uint64_t old = doubling.old, end = min(<uint64_t>(part + 1) * PART, old), h, i, j, number
    cdef uint32_t entry, was = <uint32_t>(old - 1), now = <uint32_t>(2 * old - 1)
    for i in range(<uint64_t>part * PART, end):
        entry = smaller[i + AHEAD] & was if i + AHEAD < end else 0
        if entry:
            prefetch(&doubling.chunk[(entry - 1) >> CHUNK_BITS][(entry - 1) & (CHUNK - 1)])
        entry = smaller[i] & was
        if entry:
            number = entry - 1
            h = mixed(doubling.chunk[number >> CHUNK_BITS][number & (CHUNK - 1)])
            j = h & (2 * old - 1)
            entry |= <uint32_t>(h >> 32) & ~now
            while seen(&doubling.larger[j]) or entered(&doubling.larger[j], entry):
                j = (j + 1) & (2 * old - 1)
