# cython: language_level=3
"""What the compiled searches over packed states share: fields of records, hashing, hints for the processor.

A record is one state that is being worked on: words with the packed fields, then one with the parent (low half) and the
label that led here (high half) and, where there are counters, a word that is stored with them and the counters.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from rdma_robust.native.memory cimport zeroed

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define rdma_prefetch(address) __builtin_prefetch(address)
    #define rdma_lowest(word) __builtin_ctzll(word)
    #define rdma_count(word) __builtin_popcountll(word)
    #else
    #define rdma_prefetch(address) ((void)(address))
    static int rdma_lowest(unsigned long long word) {
        int bit = 0;
        while (!(word >> bit & 1)) bit++;
        return bit;
    }
    static int rdma_count(unsigned long long word) {
        int bits = 0;
        for (; word; word &= word - 1) bits++;
        return bits;
    }
    #endif
    """
    void prefetch "rdma_prefetch" (const void *address) noexcept nogil
    int count_bits "rdma_count" (uint64_t word) noexcept nogil
    int lowest "rdma_lowest" (uint64_t word) noexcept nogil


cdef extern from *:
    """
    /* The low half of a word, as a parent none; no pair of numbers; the counter omega, and what no other comes near to. */
    #define RDMA_LOW 0xFFFFFFFFULL
    #define RDMA_MISSING 0xFFFFFFFFFFFFFFFFULL
    #define RDMA_OMEGA 0x7FFFFFFFFFFFFFFFLL
    #define RDMA_HUGE 0x3FFFFFFFFFFFFFFFLL
    """
    const uint64_t LOW "RDMA_LOW"
    const uint64_t MISSING "RDMA_MISSING"
    const int64_t OMEGA "RDMA_OMEGA"
    const int64_t HUGE "RDMA_HUGE"


cdef struct Field:
    int64_t least
    uint64_t mask
    int32_t word
    int32_t shift


cdef inline Field *made_fields(list fields) except NULL:
    """A new array of fields, given as (least value, mask, word, shift). Raises MemoryError."""
    cdef Field *made = <Field *>zeroed(len(fields), sizeof(Field))
    cdef int i
    for i, (least, mask, word, shift) in enumerate(fields):
        made[i].least, made[i].mask, made[i].word, made[i].shift = least, mask, word, shift
    return made


cdef inline int64_t field_value(uint64_t *record, Field *f) noexcept nogil:
    return <int64_t>((record[f.word] >> f.shift) & f.mask) + f.least


cdef inline uint64_t hash_words(uint64_t *words, int count) noexcept nogil:
    cdef uint64_t h = 0x9E3779B97F4A7C15ULL
    cdef int i
    for i in range(count):
        h = (h ^ words[i]) * 0xD6E8FEB86659FD93ULL
        h ^= h >> 32
    h *= 0xD6E8FEB86659FD93ULL
    return h ^ (h >> 29)


cdef inline bint equal_words(uint64_t *a, uint64_t *b, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        if a[i] != b[i]:
            return False
    return True
