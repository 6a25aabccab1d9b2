# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The compiled search kernel: the searches of searches.py over states packed into machine words.

bytecode.py makes what it runs; driver.py drives it. The states are in a Store, Code finds successors. The interpreter lock
is released during :meth:`Search.run`.
More than 400 lines: one class, whose methods hand each other the slots and the buffer of the state being expanded.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from rdma_robust.counters.kernel._agenda cimport Agenda
from rdma_robust.counters.kernel._arrange cimport Arrange
from rdma_robust.counters.kernel._code cimport BUDGET, CODE, DONE, FOUND, MEMORY, NUMBERS, STATES, Code
from rdma_robust.counters.kernel._packed cimport LOW, MISSING, Field, equal_words, field_value, lowest, made_fields
from rdma_robust.counters.kernel._pairs cimport beyond, find, parent_of
from rdma_robust.counters.kernel._partition cimport Partition
from rdma_robust.counters.kernel._places cimport Place, Places
from rdma_robust.counters.kernel._proofs cimport LookAhead
from rdma_robust.counters.kernel._store cimport Folder, Store
from rdma_robust.counters.kernel._team cimport Team, flag
from rdma_robust.native.memory cimport refuse, try_grown, zeroed

cdef int64_t BATCH = 64  # received states that are looked up together

LAYOUT = 11
"""To be raised with every change of what driver.py and bytecode.py hand over."""


def refuse_allocations(long long first, long long count):
    """For tests: refuse these requests for memory in this module, see native/memory.pxd."""
    return refuse(first, count)


cdef class Search:
    """One search: see driver.py. Without `ahead` no state is hopeless, without `alike` none stands for others."""

    cdef int longest_chain, chain_length, words, counters, record, processes, fields, ranks
    cdef bint reduce, accelerate, by_rank
    cdef Store store
    cdef Folder folder
    cdef Code code
    cdef public LookAhead ahead
    cdef public Arrange alike
    cdef Field *field
    cdef readonly Places places
    cdef int32_t *rank_field
    cdef Agenda agenda
    cdef int64_t note_room, noted
    cdef Team team
    cdef Partition partition
    cdef tuple pairs
    cdef int64_t *chain
    cdef int64_t *notes
    cdef uint64_t *packed
    cdef readonly int64_t done, transitions, found_state
    cdef readonly int status, found, need_process, need_location
    cdef char apart[64]

    def __init__(
        self, int words, tuple pairs, list fields, list numbers, int counters, list rank_fields,
        *, bint reduce, bint by_rank, bint accelerate, int longest_chain, int64_t most,
    ):
        cdef int i
        self.counters, self.reduce, self.accelerate, self.by_rank = counters, reduce, accelerate, by_rank
        self.store, self.code = Store(words, counters, most), Code(words, fields, counters)
        self.folder, self.pairs = Folder(self.store, pairs), pairs
        self.words, self.record, self.fields = words, self.folder.record, len(fields)
        self.field = made_fields(fields)
        self.processes, self.places = len(numbers), Places(numbers)
        self.rank_field = <int32_t *>zeroed(len(rank_fields), sizeof(int32_t))
        for i in range(len(rank_fields)):
            self.rank_field[i] = rank_fields[i]
        self.ranks, self.agenda = len(rank_fields), Agenda(len(rank_fields) + 1)
        self.packed = <uint64_t *>zeroed(self.record, 8)
        self.chain = <int64_t *>zeroed(longest_chain, 8)
        self.longest_chain = longest_chain

    def __dealloc__(self):
        free(self.field); free(self.rank_field); free(self.chain); free(self.notes); free(self.packed)

    @property
    def states(self):
        return self.store.roots.size - self.spare

    @property
    def spare(self):
        """The numbers of states that were taken and not used."""
        return self.folder.spare_roots.end - self.folder.spare_roots.next

    @property
    def bytes(self):
        """The memory of the states, without that of the agenda."""
        return self.store.budget.bytes

    @property
    def waiting_bytes(self):
        return self.agenda.bytes

    @property
    def wide_field(self):
        return self.code.wide_field

    @property
    def wide_value(self):
        return self.code.wide_value

    def load(self, *text):
        """Take the whole program text again, after it has grown, as :meth:`Code.load` says."""
        self.code.load(*text)

    def fired(self):
        """Return the labels that were ever enabled."""
        return self.code.fired()

    def start(self, list values):
        """Store the initial state, whose fields have these values."""
        cdef int i
        cdef uint64_t root
        memset(self.packed, 0, self.record * 8)
        for i in range(self.fields):
            self.packed[self.field[i].word] |= (<uint64_t>(<int64_t>values[i] - self.field[i].least)) << self.field[i].shift
        self.packed[self.words] = LOW
        if self.alike is not None:
            self.alike.arrange(self.packed)
        if self.partition is not None and self.partition.owner(self.packed) != self.partition.part:
            return
        if not self.folder.fold(self.packed, True, &root) or self.folder.insert(self.packed, root, -1) \
                or not self.put_off(0, self.packed):
            raise MemoryError

    def limit(self, int64_t max_states, int64_t max_bytes):
        """From now on store so many states, and take so many bytes for them, at most."""
        self.store.limit(max_states, max_bytes)

    def lead(self, Team team):
        """From now on search with others, who :meth:`follow`: what is still to be expanded is on agendas."""
        if not (self.store.parts.reserve() and self.store.roots.reserve()):
            raise MemoryError
        self.team = self.store.parts.team = self.store.roots.team = team
        if not self.by_rank:
            self.by_rank = True
            for number in range(self.done, self.store.roots.size):
                self.folder.unfold(number)
                if not self.put_off(number, self.folder.state):
                    raise MemoryError

    def follow(self, Search leader):
        """Work on the states of another search, in its team."""
        self.store, self.places, self.team, self.by_rank = leader.store, leader.places, leader.team, True
        self.folder = Folder(self.store, self.pairs)

    def divide(self, Partition partition):
        """From now on search a part of the states; those that others find arrive by :meth:`receive`. Not with counters."""
        self.partition = partition

    def receive(self, const unsigned char[::1] records):
        """Store the states in records of other parts, up to the first for which there is no room; return the bytes taken."""
        cdef int64_t size = self.record * 8, all = records.shape[0] // size, taken = 0, s
        cdef int status = BUDGET
        with nogil:
            while taken < all and status == BUDGET:
                self.code.size = 0
                while self.code.size < min(BATCH, all - taken) and status == BUDGET:
                    if self.code.size == self.code.room and not self.code.more_room():
                        status = MEMORY
                        break
                    s = taken + self.code.size
                    memcpy(self.code.buffer + self.code.size * self.record, &records[s * size], size)
                    self.code.size += 1
                if status == BUDGET and not self.code.fold_all(self.folder, True):
                    status = MEMORY
                s = 0
                while s < self.code.size and status == BUDGET:
                    status = self.add(0, self.code.buffer + s * self.record, self.code.roots[s])
                    if status == BUDGET or status == FOUND:
                        s += 1
                taken += s
        self.status = status
        return taken * size

    def save(self, write):
        """Hand all that there is to `write`, piece by piece, while nobody searches; not with counters."""
        cdef int64_t spare = self.folder.spare_parts.end - self.folder.spare_parts.next
        cdef int64_t[5] sizes = [
            self.states, self.store.parts.size - spare, self.done, self.transitions, (self.code.labels + 7) // 8]
        write(PyBytes_FromStringAndSize(<char *>sizes, sizeof(sizes)))
        self.store.parts.save(sizes[1], write)
        self.store.roots.save(sizes[0], write)
        self.agenda.save(write)
        write(PyBytes_FromStringAndSize(<char *>self.code.fired_bits, sizes[4]))

    def restore(self, read):
        """Take what :meth:`save` has handed over, in a new search with that code or more; `read` returns so many bytes.

        Raises MemoryError, ValueError for what no search has handed over.
        """
        cdef int64_t[5] sizes
        cdef const unsigned char[::1] content = read(sizeof(sizes))
        memcpy(sizes, &content[0], sizeof(sizes))
        self.store.parts.restore(sizes[1], read, &self.folder.spare_parts)
        self.store.roots.restore(sizes[0], read, &self.folder.spare_roots)
        self.agenda.restore(sizes[0], read)
        self.done, self.transitions = sizes[2], sizes[3]
        content = read(sizes[4])
        if sizes[4] > (self.code.labels + 7) // 8:
            raise ValueError("other labels are taken")
        if sizes[4]:
            memcpy(self.code.fired_bits, &content[0], sizes[4])

    def run(self, int64_t budget):
        """Expand up to `budget` states, each of the team, fewer if another is at the end of its own; return a status."""
        with nogil:
            if self.team is None:
                self.status = self.loop(budget)
            else:
                self.team.begin(budget)
                self.team.enter()
                self.status = self.loop(budget)
                self.team.finish()
                self.team.gather()
        return self.status

    def serve(self):
        """Work whenever the leader runs, until the team is dismissed."""
        cdef int round = 0
        with nogil:
            while self.team.called(&round):
                self.status = self.loop(self.team.budget)
                self.team.finish()

    def target_at_start(self):
        """Whether a target holds in the initial state; then it is the one found."""
        self.folder.unfold(0)
        return self.test(0, self.folder.state) == FOUND

    def path(self, int64_t number):
        """Return (labels taken, packed fields) of each state from the initial one, where none is taken, to `number`."""
        cdef int i
        cdef int64_t label
        found = []
        while True:
            self.folder.unfold(number)
            words = [self.folder.state[i] for i in range(self.words)]
            label = self.folder.state[self.words + 1] >> 32 if self.counters else -1
            number = parent_of(self.store.roots, number)[0]
            if number == LOW:
                return [([0], words), *found[::-1]]
            found.append((self.taken(number, words, label), words))

    def changes(self, int64_t every):
        """Return for each field in how many of every so many states it is not what it is in their parents."""
        cdef int64_t number
        cdef int i
        found = [0] * self.fields
        for number in range(every, self.states, every):
            self.folder.unfold(parent_of(self.store.roots, number)[0])
            memcpy(self.packed, self.folder.state, self.words * 8)
            self.folder.unfold(number)
            for i in range(self.fields):
                found[i] += field_value(self.packed, &self.field[i]) != field_value(self.folder.state, &self.field[i])
        return found

    def spread(self, Partition partition, int64_t every):
        """Return how many of every so many states each part would have."""
        cdef int64_t number
        sizes = [0] * partition.parts
        for number in range(0, self.states, every):
            self.folder.unfold(number)
            sizes[partition.owner(self.folder.state)] += 1
        return sizes

    def link(self, int64_t number):
        """Return the packed fields of a state, and the name of its parent, -1 for the initial one."""
        self.folder.unfold(number)
        parent = parent_of(self.store.roots, number)[0]
        return [self.folder.state[i] for i in range(self.words)], -1 if parent == LOW else parent

    def steps(self, int64_t parent, list words):
        """Return the labels taken from a state here to one with these packed fields, which may be another part's."""
        return self.taken(parent, words, -1)

    cdef list taken(self, int64_t parent, list words, int64_t label):
        """The first transition from a state to one with these fields, by this label if it is one, and those at local
        locations that were taken with it."""
        cdef int p
        cdef int64_t s
        cdef uint64_t *r
        cdef Place *here
        self.folder.unfold(parent)
        self.code.unpack(self.folder.state)
        self.code.size = 0
        for p in range(self.processes):
            s = self.code.size
            here = &self.places.place[p][self.code.slot[p]]
            # That code is not there yet, or a field too narrow, concerns other transitions than the stored one.
            if here.code >= 0 and self.code.execute(parent, self.folder.state, here.code) == -MEMORY:
                raise MemoryError
            while s < self.code.size:
                first = <int64_t>(self.code.buffer[s * self.record + self.words] >> 32)
                if self.settle(s, p) == MEMORY:
                    raise MemoryError
                r = self.code.buffer + s * self.record
                if self.alike is not None:
                    self.alike.arrange(r)
                if (label < 0 or first == label) and [r[i] for i in range(self.words)] == words:
                    return [first] + [self.chain[i] for i in range(self.chain_length)]
                s += 1
            self.code.unpack(self.folder.state)
        raise AssertionError("a stored transition is not enabled")

    cdef int loop(self, int64_t budget) noexcept nogil:
        cdef int64_t number
        cdef int status, rank
        while budget > 0:
            rank = 0
            if self.team is not None:
                status = self.together()
                if status >= 0:
                    return status
            if self.by_rank:
                rank = self.agenda.highest()
                if rank < 0:
                    return DONE
                number = self.agenda.last(rank)
            else:
                if self.done == self.store.roots.size:
                    return DONE
                number = self.done
            self.folder.unfold(number)
            self.code.unpack(self.folder.state)
            self.need_process = self.places.unknown(self.code.slot)
            if self.need_process >= 0:
                self.need_location = <int>self.code.slot[self.need_process]
                return CODE
            if self.by_rank:
                self.agenda.drop(rank)
            self.done += 1
            status = self.expand(number)
            if status == CODE:
                self.done -= 1
                if self.by_rank:
                    self.agenda.take_back(rank)
            elif status == STATES and self.partition is not None:
                # There may be room in the next round: then it is expanded once more, and finds the same.
                self.done -= 1
                self.transitions -= self.code.size
                if self.by_rank and not self.agenda.put(rank, number):
                    return MEMORY
            if status:
                return status
            budget -= 1
        return BUDGET

    cdef int together(self) noexcept nogil:
        """See that there is a state to expand, for others too: the status with which to leave if there is none, else -1."""
        cdef int found
        if flag(&self.team.stopped):
            return BUDGET
        if flag(&self.team.pausing):
            self.team.park()
        if self.agenda.highest() < 0:
            found = self.team.take(self.agenda)
            if found <= 0:
                return MEMORY if found else DONE if self.team.ended else BUDGET
        elif flag(&self.team.hungry) and not self.team.give(self.agenda, self.agenda.fullest()):
            return MEMORY
        return -1

    cdef int expand(self, int64_t number) noexcept nogil:
        """Find the successors of the state that is unpacked in the slots, and store them. 0 to go on."""
        cdef uint64_t members[65]
        cdef int64_t ends[64]
        cdef uint64_t everything, m
        cdef int count = 0, k, p, status
        cdef int64_t s
        cdef Place *here
        everything = (<uint64_t>1 << self.processes) - 1 if self.processes < 64 else ~<uint64_t>0
        if self.reduce:
            count = self.places.clusters(self.code.slot, members, everything)
        members[count] = everything
        for k in range(count + 1):
            m = members[k]
            self.code.size = 0
            if k:
                self.code.unpack(self.folder.state)
            for p in range(self.processes):
                if m >> p & 1:
                    here = &self.places.place[p][self.code.slot[p]]
                    if here.code >= 0:
                        status = self.code.execute(self.name(number), self.folder.state, here.code)
                        if status < 0:
                            return self.stopped(-status)
                ends[p] = self.code.size
            self.noted = 0
            if self.ahead is not None:
                self.leave_out(self.rank(self.folder.state))
            if self.reduce:
                s = 0
                for p in range(self.processes):
                    while s < ends[p]:
                        status = self.settle(s, p)
                        if status:
                            return status
                        s += 1
            if k < count and self.advance(self.folder.state, m, ends):
                break
        if self.alike is not None:
            self.alike.arrange_all(self.code.buffer, self.code.size, self.record)
        if self.partition is not None and not self.partition.sort_out(self.code.buffer, self.code.size):
            return MEMORY
        return self.add_all(number) if self.code.fold_all(self.folder, False) else MEMORY

    cdef inline int64_t name(self, int64_t number) noexcept nogil:
        """By what successors know their parent: its number, and where the states are divided its part too."""
        return number if self.partition is None else number * self.partition.parts + self.partition.part

    cdef bint advance(self, uint64_t *before, uint64_t members, int64_t *ends) noexcept nogil:
        """Some successor in the buffer has the rank of the state before and its process at a location of a larger number;
        those by process p end before `ends[p]`."""
        cdef int p, rank = self.rank(before)
        cdef int64_t s
        cdef int32_t number
        cdef Field *f
        while members:
            p = lowest(members)
            members &= members - 1
            f = &self.field[p]
            number = self.places.place[p][field_value(before, f)].number
            s = ends[p - 1] if p else 0
            while s < ends[p]:
                if self.places.place[p][field_value(self.code.buffer + s * self.record, f)].number > number:
                    if self.rank(self.code.buffer + s * self.record) == rank:
                        return True
                s += 1
        return False

    cdef int add_all(self, int64_t number) noexcept nogil:
        """Store the successors in the buffer. A status, 0 to go on."""
        cdef int64_t s, note = 0
        cdef int status
        if not self.counters:
            self.transitions += self.code.size
        for s in range(self.code.size):
            if self.counters:
                self.transitions += 1
            while note < self.noted and self.notes[2 * note] == s:
                self.code.fire(self.notes[2 * note + 1])
                note += 1
            status = self.add(number, self.code.buffer + s * self.record, self.code.roots[s])
            if status:
                return status
        return 0

    cdef void leave_out(self, int rank) noexcept nogil:
        """Take away the parent of hopeless successors of a higher rank: they are neither extended nor stored."""
        cdef int64_t s
        cdef uint64_t *r
        for s in range(self.code.size):
            r = self.code.buffer + s * self.record
            if self.rank(r) > rank and self.ahead.hopeless(r):
                r[self.words] |= LOW

    cdef int stopped(self, int status) noexcept nogil:
        """The status with which code ended early; where more code is needed, which."""
        if status == CODE:
            self.need_process, self.need_location = -1, self.code.wanted
        return status

    cdef int settle(self, int64_t s, int p) noexcept nogil:
        """Extend successor `s`, by a move of process `p`, by those at local locations that follow; note them in `chain`.

        A status, 0 to go on. The slots are overwritten.
        """
        cdef uint64_t *r
        cdef Place *place
        cdef Field *f = &self.field[p]
        cdef int64_t size = self.code.size
        cdef uint64_t link
        cdef int status
        self.chain_length = 0
        r = self.code.buffer + s * self.record
        if r[self.words] & LOW == LOW or field_value(r, f) == field_value(self.folder.state, f):
            return 0
        while self.chain_length < self.longest_chain:
            r = self.code.buffer + s * self.record
            place = &self.places.place[p][field_value(r, f)]
            if not place.known:
                self.need_process, self.need_location = p, <int>field_value(r, f)
                return CODE
            if not place.local or place.code < 0:
                return 0
            self.code.unpack(r)
            if self.target(r) >= 0:
                return 0
            link = r[self.words]
            memcpy(self.packed, r, self.record * 8)
            status = self.code.execute(0, self.packed, place.code)
            if status < 0:
                return self.stopped(-status)
            if self.code.size != size + 1 or not self.code.neutral:
                self.code.size = size
                return 0
            self.code.size = size
            if not self.note(s, <int64_t>(self.code.buffer[size * self.record + self.words] >> 32)):
                return MEMORY
            memcpy(self.code.buffer + s * self.record, self.code.buffer + size * self.record, self.record * 8)
            self.code.buffer[s * self.record + self.words] = link
        return 0

    cdef int note(self, int64_t s, int64_t label) noexcept nogil:
        """Remember that successor `s` was extended by a transition; 0 if there is no memory left."""
        cdef void *made
        self.chain[self.chain_length] = label
        self.chain_length += 1
        made = try_grown(self.notes, &self.note_room, self.noted + 1, 16)
        if made == NULL:
            return 0
        self.notes = <int64_t *>made
        self.notes[2 * self.noted], self.notes[2 * self.noted + 1] = s, label
        self.noted += 1
        return 1

    cdef int add(self, int64_t number, uint64_t *r, uint64_t root) noexcept nogil:
        """Store a successor unless it is there. A status, 0 to go on."""
        cdef int64_t old = -1, label = <int64_t>(r[self.words] >> 32)
        cdef bint missing = root == MISSING and self.words > 1
        self.code.fire(label)
        if r[self.words] & LOW == LOW:
            return 0
        if not missing and self.known(r, root, &old):
            return 0
        if self.ahead is not None and self.ahead.hopeless(r):
            return 0
        if missing:
            if not self.folder.fold(r, True, &root):
                return self.no_room()
            if self.known(r, root, &old):
                return 0
        if self.counters and self.accelerate and old >= 0:
            self.store.raise_counters(r + self.words + 2, root, number, old)
        number = self.folder.insert(r, root, old)
        if number == -1:
            return self.no_room()
        if number < 0:
            return 0
        if not self.put_off(number, r):
            return MEMORY
        return self.test(number, r) if old < 0 else 0

    cdef bint known(self, uint64_t *r, uint64_t root, int64_t *old) noexcept nogil:
        """A state is stored, or with counters one that covers it; else `old` is the newest with the same fields, or -1."""
        old[0] = find(self.store.roots, root)
        return old[0] >= 0 and (not self.counters or self.store.covered(r + self.words + 2, old[0]))

    cdef int no_room(self) noexcept nogil:
        """The status where no state or no part of one gets a number."""
        if beyond(&self.folder.spare_roots, self.store.max_states):
            return STATES
        if beyond(&self.folder.spare_roots, self.store.roots.most):
            return NUMBERS
        return NUMBERS if beyond(&self.folder.spare_parts, self.store.parts.most) else MEMORY

    cdef bint put_off(self, int64_t number, uint64_t *r) noexcept nogil:
        """Put a new state on the agenda, if there is one; False if there is no memory."""
        return not self.by_rank or self.agenda.put(self.rank(r), number)

    cdef int test(self, int64_t number, uint64_t *r) noexcept nogil:
        """FOUND if a target holds in a new state. The slots are overwritten."""
        cdef int target
        if self.rank(r) < self.ranks:
            return 0
        self.code.unpack(r)
        target = self.target(r)
        if target < 0:
            return 0
        self.found, self.found_state = target, number
        return FOUND

    cdef int target(self, uint64_t *r) noexcept nogil:
        """The target with the least number that holds in the state in the slots, or -1."""
        cdef int best = -1, found, p, entry
        if self.rank(r) < self.ranks:
            return -1
        for p in range(self.processes + 1):
            entry = self.places.global_target if p == self.processes else self.places.place[p][self.code.slot[p]].target
            if entry >= 0:
                found = self.code.execute(0, NULL, entry) - 1
                if found >= 0 and (best < 0 or found < best):
                    best = found
        return best

    cdef inline int rank(self, uint64_t *r) noexcept nogil:
        cdef int i, found = 0
        for i in range(self.ranks):
            found += field_value(r, &self.field[self.rank_field[i]]) != 0
        return found
