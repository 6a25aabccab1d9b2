"""Values that threads copy from word to word, where values grow: each copy is found, and nothing that no run makes."""

from __future__ import annotations

from rdma_robust.language.load import load_program

COPIES = """#include <pthread.h>
#include <rdma_robust.h>
static volatile long x, y, z, w;
static void *other(void *p) { x = 1; y = x; z = y; w = z; return p; }
RR_PROCESS(A) void both(void)
{
	pthread_t t;
	RR_START();
	pthread_create(&t, 0, other, 0);
	long seen = w;
	pthread_join(t, 0);
	ASKED
}
#include <infiniband/verbs.h>
"""


def faults_of(asked: str) -> list[str]:
    program = load_program(COPIES.replace("ASKED", asked), "copies.c")
    return [step.fault.message for thread in program.threads for _, _, step in thread.edges if step.fault]


def test_copies_through_registers_are_found() -> None:
    (claim,) = faults_of("RR_ASSERT(w == 1);")
    assert claim == "assertion `RR_ASSERT(w == 1)` fails"
    (claim,) = faults_of("RR_ASSERT(seen != 1);")
    assert claim == "assertion `RR_ASSERT(seen != 1)` fails"


def test_what_no_run_makes_is_not_found() -> None:
    assert faults_of("RR_ASSERT(w != 2);") == []


def test_main_may_return_what_it_has_read() -> None:
    text = """#include <shmem.h>
static long x;
int main(void)
{
	shmem_init();
	shmem_long_p(&x, shmem_my_pe(), 1);
	return shmem_long_g(&x, 0);
}
"""
    assert len(load_program(text, "returns.c").threads) == 2


LATE = """#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma_robust.h>
static volatile long x, y1, y2, y3, y4, other;
static void *adds(void *p) { x = x + 1; x = x + 1; return p; }
static void *first(void *p) { y1 = x; return p; }
static void *second(void *p) { y2 = y1; return p; }
static void *third(void *p) { y3 = y2; return p; }
static void *fourth(void *p) { y4 = y3; return p; }
static void *last(void *p) { if (y4 == 2) other = 1; return p; }
RR_PROCESS(A) void all(void)
{
	pthread_t t[6];
	RR_START();
	pthread_create(&t[0], 0, adds, 0);
	pthread_create(&t[1], 0, first, 0);
	pthread_create(&t[2], 0, second, 0);
	pthread_create(&t[3], 0, third, 0);
	pthread_create(&t[4], 0, fourth, 0);
	pthread_create(&t[5], 0, last, 0);
	RR_ASSERT(other == 0);
}
"""


def test_what_a_late_copy_leads_to_is_shared() -> None:
    """The branch is taken only after four copies of the last sum: `other` is a word of two threads all the same."""
    program = load_program(LATE, "late.c")
    faults = [step.fault.message for thread in program.threads for _, _, step in thread.edges if step.fault]
    assert faults == ["assertion `RR_ASSERT(other == 0)` fails"]
