"""The parts of a test beside the bodies of its threads: rounds, the final states that were seen, and a library's calls."""

from __future__ import annotations

from typing import Final, Literal

RunnerLibrary = Literal["shmem", "mpi", "verbs"]

FIRST: Final = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-label"

static long rounds = 1000, block = 1;
static volatile long *memory; /* each word is the last of a block */
static long *state; /* of this round: every register and word, then why each process ended: 1 set aside, 2 waited too long */
static int me, processes, ended;
static unsigned long seed;
static double deadline;

#define WORD(k) memory[(k) * block + block - 1]

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long any(long low, long high)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return low + (long)((seed >> 33) % (unsigned long)(high - low + 1));
}

static long *block_of(volatile long *word)
{
	return (long *)word - (block - 1);
}

/* Processors are sequentially consistent here: the store is behind its write when it returns. */
static void store(volatile long *word, long value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static long **blocks, used_blocks, made_blocks;

/* A block of this value, which is left alone until the round has ended. */
static long *kept(long value)
{
	if (used_blocks == made_blocks) {
		blocks = realloc(blocks, (size_t)(made_blocks + 1) * sizeof *blocks);
		blocks[made_blocks++] = malloc((size_t)block * sizeof(long));
	}
	for (long k = 0; k < block; k++)
		blocks[used_blocks][k] = value;
	return blocks[used_blocks++];
}
"""

SHMEM: Final = r"""#include <shmem.h>
static void begin(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	shmem_init();
	me = shmem_my_pe();
	processes = shmem_n_pes();
}
static void allocate(long words, long entries)
{
	memory = shmem_malloc((size_t)(words * block) * sizeof(long));
	state = shmem_malloc((size_t)entries * sizeof(long));
}
static void progress(void)
{
	shmem_long_test((long *)&memory[block - 1], SHMEM_CMP_EQ, 0);
}
static void put(volatile long *from, long k, int pe)
{
	shmem_putmem_nbi((void *)&memory[k * block], block_of(from), (size_t)block * sizeof(long), pe);
}
static void put_value(long value, long k, int pe)
{
	if (block == 1)
		shmem_long_p((long *)&memory[k], value, pe);
	else
		shmem_putmem((void *)&memory[k * block], kept(value), (size_t)block * sizeof(long), pe);
}
static void get(volatile long *to, long k, int pe)
{
	shmem_getmem_nbi(block_of(to), (void *)&memory[k * block], (size_t)block * sizeof(long), pe);
}
static void completed_here(int pe)
{
	(void)pe;
	shmem_quiet();
}
static void completed(int pe)
{
	(void)pe;
	shmem_quiet();
}
static void ordered(int pe)
{
	(void)pe;
	shmem_fence();
}
static void fetch(volatile long *to, long k, int pe)
{
	store(to, shmem_long_atomic_fetch((long *)&WORD(k), pe));
}
static void fetch_add(volatile long *to, long k, int pe, long value)
{
	store(to, shmem_long_atomic_fetch_add((long *)&WORD(k), value, pe));
}
static void fetch_set(volatile long *to, long k, int pe, long value)
{
	store(to, shmem_long_atomic_swap((long *)&WORD(k), value, pe));
}
static void compare_set(volatile long *to, long k, int pe, long expected, long value)
{
	long old = shmem_long_atomic_compare_swap((long *)&WORD(k), expected, value, pe);
	if (to)
		store(to, old);
}
static void add(long k, int pe, long value)
{
	shmem_long_atomic_add((long *)&WORD(k), value, pe);
}
static void set(long k, int pe, long value)
{
	shmem_long_atomic_set((long *)&WORD(k), value, pe);
}
static void meet(void)
{
	shmem_sync_all();
}
static void finish(void)
{
	shmem_quiet();
	shmem_barrier_all();
}
static void record(long entry, long value)
{
	shmem_long_p(&state[entry], value, 0);
}
static void gather(long entries)
{
	(void)entries;
	shmem_quiet();
	shmem_barrier_all();
}
/* Not by shmem_finalize, in which that of Open MPI 4.1.4 crashes. */
static int stop(int answer)
{
	if (me == 0)
		shmem_global_exit(answer);
	shmem_barrier_all();
	return answer;
}
"""

MPI: Final = r"""#include <mpi.h>
static MPI_Win window;
static void begin(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &processes);
}
static void allocate(long words, long entries)
{
	void *base;
	long size = (words * block * (long)sizeof(long) + 63) / 64 * 64; /* MPICH 4.0.2 loses sums in one of 24 bytes */
	MPI_Win_allocate(size, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
	memory = base;
	MPI_Win_lock_all(0, window);
	state = calloc((size_t)entries, sizeof(long));
}
static void progress(void)
{
	int is_there;
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
	MPI_Win_sync(window);
}
static void put(volatile long *from, long k, int pe)
{
	MPI_Put(block_of(from), (int)block, MPI_LONG, pe, k * block, (int)block, MPI_LONG, window);
}
static void put_value(long value, long k, int pe)
{
	MPI_Put(kept(value), (int)block, MPI_LONG, pe, k * block, (int)block, MPI_LONG, window);
}
static void get(volatile long *to, long k, int pe)
{
	MPI_Get(block_of(to), (int)block, MPI_LONG, pe, k * block, (int)block, MPI_LONG, window);
}
static void completed_here(int pe)
{
	MPI_Win_flush_local(pe, window);
}
static void completed(int pe)
{
	MPI_Win_flush(pe, window);
}
static void fetch(volatile long *to, long k, int pe)
{
	MPI_Fetch_and_op(0, (void *)to, MPI_LONG, pe, k * block + block - 1, MPI_NO_OP, window);
}
static void fetch_add(volatile long *to, long k, int pe, void *value)
{
	MPI_Fetch_and_op(value, (void *)to, MPI_LONG, pe, k * block + block - 1, MPI_SUM, window);
}
static void fetch_set(volatile long *to, long k, int pe, void *value)
{
	MPI_Fetch_and_op(value, (void *)to, MPI_LONG, pe, k * block + block - 1, MPI_REPLACE, window);
}
static void compare_set(volatile long *to, long k, int pe, void *expected, void *value)
{
	void *old = to ? (void *)to : kept(0);
	MPI_Compare_and_swap(value, expected, old, MPI_LONG, pe, k * block + block - 1, window);
}
static void add(long k, int pe, void *value)
{
	MPI_Accumulate(value, 1, MPI_LONG, pe, k * block + block - 1, 1, MPI_LONG, MPI_SUM, window);
}
static void set(long k, int pe, void *value)
{
	MPI_Accumulate(value, 1, MPI_LONG, pe, k * block + block - 1, 1, MPI_LONG, MPI_REPLACE, window);
}
static void meet(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}
static void finish(void)
{
	MPI_Win_flush_all(window);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(window);
}
static void record(long entry, long value)
{
	state[entry] = value;
}
static void gather(long entries)
{
	MPI_Allreduce(MPI_IN_PLACE, state, (int)entries, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
}
static int stop(int answer)
{
	if (memory) {
		MPI_Win_unlock_all(window);
		MPI_Win_free(&window);
	}
	MPI_Finalize();
	return answer;
}
"""

TURN: Final = r"""
/* Let the library go on where a thread waits; tell whether it has waited too long. */
static int turn(void)
{
	progress();
	if (now() > deadline)
		ended = 2;
	return ended;
}
"""
LAST: Final = r"""
static long (*seen)[STATES], *times, different, set_aside, waiting;

static void count(void)
{
	long at, why = 0;
	for (int process = 0; process < PROCESSES; process++)
		why |= state[STATES + process];
	if (why) {
		set_aside += why == 1;
		waiting += why != 1;
		return;
	}
	for (at = 0; at < different && memcmp(seen[at], state, sizeof seen[at]); at++)
		;
	if (at == different) {
		different++;
		seen = realloc(seen, (size_t)different * sizeof *seen);
		times = realloc(times, (size_t)different * sizeof *times);
		memcpy(seen[at], state, sizeof seen[at]);
		times[at] = 0;
	}
	times[at]++;
}

/* The number of a state that is known: allowed ones first. */
static long number(const long *values)
{
	long k = 0;
	while (k < KNOWN && memcmp(known_states[k], values, STATES * sizeof(long)) != 0)
		k++;
	return k;
}

static int report(void)
{
	static const char *const said[] = { "FORBIDDEN", "allowed", "sc" };
	long weak = 0, forbidden = 0;
	printf("%10s %-9s%s\n", "seen", "", names);
	for (long at = 0; at < different; at++) {
		long k = number(seen[at]);
		int which = k < ALLOWED ? 1 + is_sc[k] : 0; /* 2 under sequential consistency too, 1 allowed */
		const char *without = k < KNOWN ? given_up[k] : "";
		weak += which == 1 ? times[at] : 0;
		forbidden += which == 0 ? times[at] : 0;
		printf("%10ld %-9s", times[at], said[which]);
		for (long each = 0; each < STATES; each++)
			printf(" %*ld", widths[each], seen[at][each]);
		printf("%s%s\n", *without ? "  given up: " : "", without);
	}
	printf("%ld rounds, blocks of %ld words: %ld final states of %d allowed ones; %ld rounds beyond sequential consistency, "
		"%ld forbidden", rounds, block, different, ALLOWED, weak, forbidden);
	if (set_aside || waiting)
		printf("; %ld set aside, %ld waited too long", set_aside, waiting);
	printf("\n");
	fflush(stdout);
	return forbidden != 0;
}

int main(int argc, char **argv)
{
	int answer = 0;
	begin(&argc, &argv);
	if (argc > 1)
		rounds = atol(argv[1]);
	if (argc > 2)
		block = atol(argv[2]);
	if (processes != PROCESSES || rounds < 1 || block < 1) {
		if (me == 0)
			fprintf(stderr, "usage: %d processes of %s [ROUNDS [WORDS OF A BLOCK]]\n", PROCESSES, argv[0]);
		return stop(2);
	}
	seed = (unsigned long)me + 1;
	allocate(WORDS, STATES + PROCESSES);
	for (long round = 0; round < rounds; round++) {
		for (long k = 0; k < WORDS; k++)
			store(&WORD(k), initial[k]);
		memset(state, 0, (STATES + PROCESSES) * sizeof(long));
		used_blocks = 0;
		ended = 0;
		finish();
		deadline = now() + 5;
		for (volatile long wait = any(0, 1L << any(0, 12)); wait > 0; wait--)
			;
		run();
		finish();
		for (long k = 0; k < WORDS; k++)
			if (owner[k] == me)
				record(entry[k], WORD(k));
		record(STATES + me, ended);
		gather(STATES + PROCESSES);
		if (me == 0)
			count();
	}
	if (me == 0)
		answer = report();
	return stop(answer);
}
"""
