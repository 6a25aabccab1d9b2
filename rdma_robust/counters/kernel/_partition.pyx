# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Which part of a search a state belongs to, and the states that were found for other parts and not sent yet.

Every state belongs to a slot, by a hash of the fields in `mask`, and every slot to a part. Successors that belong to another
part are collected in a bucket for it, as records without counters: the fields, the parent in the low half of a word and the
label in the high half. One that was sent a moment ago is not sent again: the last states of each hash are kept, whole, so
that none is ever left out that was not sent. Source: Stern and Dill, Parallelizing the Murphi verifier, 1997.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from rdma_robust.counters.kernel._packed cimport LOW, equal_words, hash_words
from rdma_robust.native.memory cimport refuse, try_grown, zeroed

cdef uint64_t SENT = 1 << 9
"""States that were sent and are kept at most: few, so that they stay in the cache nearest to a processor."""


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Partition:
    """Part number `part` of so many, of states whose words with these masks say in which slot they are; `owners` are the
    parts that slots belong to. Raises MemoryError."""

    def __init__(self, list masks, list owners, int parts, int part):
        cdef int i
        self.words, self.parts, self.part = len(masks), parts, part
        self.record = self.words + 1
        self.masked = sum(1 for mask in masks if mask)
        self.mask, self.word = <uint64_t *>zeroed(self.masked, 8), <int32_t *>zeroed(self.masked, sizeof(int32_t))
        for i, word in enumerate(word for word in range(self.words) if masks[word]):
            self.mask[i], self.word[i] = masks[word], word
        self.slots, self.owners = len(owners), <int32_t *>zeroed(len(owners), sizeof(int32_t))
        for i in range(len(owners)):
            self.owners[i] = owners[i]
        self.bucket = <Bucket *>zeroed(parts, sizeof(Bucket))
        self.sent = <uint64_t *>zeroed(SENT * self.record, 8)

    def __dealloc__(self):
        cdef int i
        if self.bucket != NULL:
            for i in range(self.parts):
                free(self.bucket[i].words)
        free(self.mask); free(self.word); free(self.owners); free(self.bucket); free(self.sent)

    def take(self, int part, int64_t least):
        """Return the records that are to be sent to a part, and forget them; nothing if they are less than so many bytes."""
        cdef Bucket *bucket = &self.bucket[part]
        if bucket.size * self.record * 8 < least:
            return b""
        cdef bytes made = PyBytes_FromStringAndSize(<char *>bucket.words, bucket.size * self.record * 8)
        bucket.size = 0
        return made

    cdef int owner(self, uint64_t *record) noexcept nogil:
        """The part that a state belongs to."""
        cdef uint64_t h = 0x9E3779B97F4A7C15ULL
        cdef int i
        for i in range(self.masked):
            h = (h ^ record[self.word[i]] & self.mask[i]) * 0xD6E8FEB86659FD93ULL
            h ^= h >> 32
        # By the high bits: tables of states go by the low ones.
        return self.owners[(h * 0xD6E8FEB86659FD93ULL >> 32) * self.slots >> 32]

    cdef bint sort_out(self, uint64_t *buffer, int64_t count) noexcept nogil:
        """Collect the successors in a buffer of records that belong to others, and take away their parents here.

        False if there is no memory for them.
        """
        cdef int64_t s
        cdef int owner
        cdef uint64_t *r = buffer
        for s in range(count):
            if r[self.words] & LOW != LOW:
                owner = self.owner(r)
                if owner != self.part:
                    if not self.put(r, &self.bucket[owner]):
                        return False
                    r[self.words] |= LOW
            r += self.record
        return True

    cdef bint put(self, uint64_t *record, Bucket *bucket) noexcept nogil:
        """Put a record into a bucket, unless the same state was put there lately; False if there is no memory."""
        cdef uint64_t h = hash_words(record, self.words) | 1
        cdef uint64_t *kept = self.sent + (h >> 1 & (SENT - 1)) * self.record
        cdef void *made
        if kept[self.words] == h and equal_words(kept, record, self.words):
            return True
        made = try_grown(bucket.words, &bucket.room, bucket.size + 1, self.record * 8)
        if made == NULL:
            return False
        bucket.words = <uint64_t *>made
        memcpy(bucket.words + bucket.size * self.record, record, self.record * 8)
        bucket.size += 1
        memcpy(kept, record, self.words * 8)
        kept[self.words] = h
        return True
