# cython: language_level=3
from libc.stdint cimport int64_t, uint32_t, uint64_t

from rdma_robust.counters.kernel._packed cimport prefetch
from rdma_robust.counters.kernel._team cimport Team

cdef extern from *:
    """
    #define rdma_seen(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
    #define rdma_shown(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
    #define rdma_room(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
    #define rdma_roomy(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
    #define rdma_look(place) __atomic_load_n(place, __ATOMIC_RELAXED)
    #define rdma_counted(place, count) __atomic_fetch_add(place, count, __ATOMIC_RELAXED)
    static inline uint32_t rdma_entered(uint32_t *place, uint32_t entry) {
        uint32_t before = 0;
        __atomic_compare_exchange_n(place, &before, entry, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        return before;
    }
    """
    uint32_t seen "rdma_seen" (uint32_t *place) noexcept nogil
    void shown "rdma_shown" (uint32_t *place, uint32_t value) noexcept nogil
    int64_t room_of "rdma_room" (int64_t *place) noexcept nogil
    void set_room "rdma_roomy" (int64_t *place, int64_t value) noexcept nogil
    int64_t look "rdma_look" (int64_t *place) noexcept nogil
    int64_t counted "rdma_counted" (int64_t *place, int64_t count) noexcept nogil
    uint32_t entered "rdma_entered" (uint32_t *place, uint32_t entry) noexcept nogil

cdef enum:
    CHUNK_BITS = 14
    CHUNK = 1 << 14


cdef struct Budget:
    int64_t bytes
    int64_t most


cdef struct Numbers:
    int64_t next
    int64_t end


cdef class Pairs:
    cdef uint32_t *index
    cdef uint64_t mask
    cdef uint32_t numbers
    cdef uint64_t **chunk
    cdef int64_t size, room, chunks, chunk_room, each, most
    cdef Budget *budget
    cdef Team team

    cdef void account(self, Budget *budget) noexcept nogil
    cdef int64_t unused(self, Numbers *spare) noexcept nogil
    cdef int64_t add(self, uint64_t word, uint32_t parent, Numbers *spare) noexcept nogil
    cdef int64_t renew(self, uint64_t word, uint32_t parent, Numbers *spare) noexcept nogil
    cdef object save(self, int64_t count, write)
    cdef object restore(self, int64_t count, read, Numbers *spare)
    cdef bint enlarge(self, int64_t number) noexcept nogil
    cdef bint reserve(self) noexcept nogil
    cdef bint lengthen(self, int64_t number) noexcept nogil
    cdef bint make_room(self, int64_t number) noexcept nogil
    cdef bint new_chunk(self) noexcept nogil
    cdef bint rehash(self) noexcept nogil


cdef inline uint64_t *word_at(Pairs table, int64_t number) noexcept nogil:
    return table.chunk[number >> CHUNK_BITS] + (number & (CHUNK - 1))


cdef inline uint32_t *parent_of(Pairs table, int64_t number) noexcept nogil:
    return <uint32_t *>(table.chunk[number >> CHUNK_BITS] + CHUNK) + (number & (CHUNK - 1))


cdef inline uint64_t *extra_of(Pairs table, int64_t number, int size) noexcept nogil:
    return table.chunk[number >> CHUNK_BITS] + CHUNK + CHUNK // 2 + (number & (CHUNK - 1)) * size


cdef inline bint beyond(Numbers *spare, int64_t most) noexcept nogil:
    """A number is taken that there may not be."""
    return spare.end > spare.next >= most


cdef inline uint64_t mixed(uint64_t word) noexcept nogil:
    cdef uint64_t h = (word ^ 0x9E3779B97F4A7C15ULL) * 0xD6E8FEB86659FD93ULL
    h ^= h >> 32
    h *= 0xD6E8FEB86659FD93ULL
    return h ^ (h >> 29)


cdef inline void fetch(Pairs table, uint64_t word) noexcept nogil:
    """Have what is needed to find a word soon."""
    prefetch(&table.index[mixed(word) & table.mask])


cdef inline int64_t find(Pairs table, uint64_t word) noexcept nogil:
    """The number of a word, -1 if it has none."""
    cdef uint64_t h = mixed(word), i = h & table.mask
    cdef uint32_t tag = <uint32_t>(h >> 32) & ~table.numbers, entry
    while True:
        entry = seen(&table.index[i])
        if entry == 0:
            return -1
        if (entry & ~table.numbers) == tag and word_at(table, (entry & table.numbers) - 1)[0] == word:
            return (entry & table.numbers) - 1
        i = (i + 1) & table.mask
