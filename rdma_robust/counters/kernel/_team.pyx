# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What threads of one search do together: hand each other states, wait while a table grows, see that nothing is left.

Each worker has an agenda of its own. One that has nothing to do waits, and says so; a worker that has some then puts half
of what it has of the highest rank into the pool. When all wait and the pool is empty, every state is expanded: who is not
waiting may still find new ones. Nothing moves in the tables of states while anybody works; who moves something waits until
the others wait too, and shares the work out to them.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free

from rdma_robust.counters.kernel._agenda cimport Agenda
from rdma_robust.native.memory cimport refuse, try_grown

cdef int64_t HANDFUL = 1 << 12
"""States that change hands at once at most."""


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Team:
    """So many workers, none of which has begun."""

    def __cinit__(self, int workers):
        self.workers = workers
        pthread_mutex_init(&self.lock, NULL)
        pthread_mutex_init(&self.growth, NULL)
        pthread_cond_init(&self.news, NULL)

    def __dealloc__(self):
        pthread_mutex_destroy(&self.lock)
        pthread_mutex_destroy(&self.growth)
        pthread_cond_destroy(&self.news)
        free(self.pool)

    def dismiss(self):
        """Let nobody wait for another round."""
        pthread_mutex_lock(&self.lock)
        self.dismissed = True
        pthread_cond_broadcast(&self.news)
        pthread_mutex_unlock(&self.lock)

    cdef void begin(self, int64_t budget) noexcept nogil:
        """Call all for another round, in which each expands so many states."""
        pthread_mutex_lock(&self.lock)
        self.stopped = self.hungry = 0
        self.round += 1
        self.budget, self.working = budget, self.workers
        pthread_cond_broadcast(&self.news)
        pthread_mutex_unlock(&self.lock)

    cdef bint called(self, int *round) noexcept nogil:
        """Wait for a round after this one, and begin to work in it; False if there will be none."""
        pthread_mutex_lock(&self.lock)
        while round[0] == self.round and not self.dismissed:
            pthread_cond_wait(&self.news, &self.lock)
        round[0] = self.round
        if not self.dismissed:
            self.wait_for_room()
        pthread_mutex_unlock(&self.lock)
        return not self.dismissed

    cdef void finish(self) noexcept nogil:
        """Work no more in this round, and let the others leave soon."""
        pthread_mutex_lock(&self.lock)
        self.active -= 1
        self.working -= 1
        set_flag(&self.stopped, 1)
        pthread_cond_broadcast(&self.news)
        pthread_mutex_unlock(&self.lock)

    cdef void gather(self) noexcept nogil:
        """Wait until all have finished."""
        pthread_mutex_lock(&self.lock)
        while self.working:
            pthread_cond_wait(&self.news, &self.lock)
        pthread_mutex_unlock(&self.lock)

    cdef void enter(self) noexcept nogil:
        """Begin to work."""
        pthread_mutex_lock(&self.lock)
        self.wait_for_room()
        pthread_mutex_unlock(&self.lock)

    cdef void leave(self) noexcept nogil:
        """Work no more."""
        pthread_mutex_lock(&self.lock)
        self.active -= 1
        pthread_cond_broadcast(&self.news)
        pthread_mutex_unlock(&self.lock)

    cdef void wait_for_room(self) noexcept nogil:
        """Be active, once no table is growing; help until then. With the lock."""
        while self.pausing:
            if self.parts_taken < self.parts:
                self.help()
            else:
                pthread_cond_wait(&self.news, &self.lock)
        self.active += 1

    cdef void park(self) noexcept nogil:
        """Wait while a table is growing."""
        self.leave()
        self.enter()

    cdef void alone(self) noexcept nogil:
        """Wait until everybody else waits, and keep them waiting."""
        pthread_mutex_lock(&self.lock)
        self.active -= 1
        pthread_cond_broadcast(&self.news)
        self.wait_for_room()
        set_flag(&self.pausing, 1)
        while self.active > 1:
            pthread_cond_wait(&self.news, &self.lock)
        pthread_mutex_unlock(&self.lock)

    cdef void share(self, Part part, void *work, int64_t parts) noexcept nogil:
        """Do all parts of a work, everybody some of them: those who wait for this one, who is alone, help."""
        pthread_mutex_lock(&self.lock)
        self.part, self.work, self.parts = part, work, parts
        self.parts_taken = self.parts_done = 0
        pthread_cond_broadcast(&self.news)
        self.help()
        while self.parts_done < parts:
            pthread_cond_wait(&self.news, &self.lock)
        pthread_mutex_unlock(&self.lock)

    cdef void help(self) noexcept nogil:
        """Do parts of the work that is shared out until none is left. With the lock."""
        cdef int64_t part
        while self.parts_taken < self.parts:
            part = self.parts_taken
            self.parts_taken += 1
            pthread_mutex_unlock(&self.lock)
            self.part(self.work, part)
            pthread_mutex_lock(&self.lock)
            self.parts_done += 1
        pthread_cond_broadcast(&self.news)

    cdef void go_on(self) noexcept nogil:
        """Let the others work again."""
        pthread_mutex_lock(&self.lock)
        set_flag(&self.pausing, 0)
        pthread_cond_broadcast(&self.news)
        pthread_mutex_unlock(&self.lock)

    cdef bint give(self, Agenda agenda, int rank) noexcept nogil:
        """Put the older half of what an agenda has of a rank into the pool, if that is empty. False without memory."""
        cdef int64_t count = min(agenda.stack[rank].size // 2, HANDFUL), i
        cdef uint32_t *items = agenda.stack[rank].items
        cdef void *made
        if count == 0:
            return True
        pthread_mutex_lock(&self.lock)
        made = try_grown(self.pool, &self.room, HANDFUL, 8)
        if made != NULL:
            self.pool = <uint64_t *>made
        if made != NULL and self.size == 0:
            for i in range(count):
                self.pool[i] = items[i] | <uint64_t>rank << 32
            self.size = count
            agenda.forget(rank, count)
            pthread_cond_broadcast(&self.news)
        pthread_mutex_unlock(&self.lock)
        return made != NULL

    cdef int take(self, Agenda agenda) noexcept nogil:
        """Wait for states, and move some into the agenda: 1, or 0 if there will be none, or -1 without memory."""
        cdef int64_t count
        cdef int found = 0
        pthread_mutex_lock(&self.lock)
        self.active -= 1
        set_flag(&self.hungry, self.hungry + 1)
        if self.hungry == self.workers and self.size == 0:
            self.ended = 1
        pthread_cond_broadcast(&self.news)
        while not self.size and not self.ended and not self.stopped:
            pthread_cond_wait(&self.news, &self.lock)
        set_flag(&self.hungry, self.hungry - 1)
        self.wait_for_room()
        if not self.ended and not self.stopped and self.size:
            found = 1
            count = (self.size + self.hungry) // (self.hungry + 1)
            while count and found > 0:
                self.size -= 1
                count -= 1
                if not agenda.put(<int>(self.pool[self.size] >> 32), <uint32_t>self.pool[self.size]):
                    self.size += 1
                    found = -1
        pthread_mutex_unlock(&self.lock)
        return found
