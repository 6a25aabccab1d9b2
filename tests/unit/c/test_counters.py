"""Loops that end by what they draw from a counter: they are evaluated without a range, and what might draw twice is not."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
from tests.support.c_automata import evaluated, statements

SHMEM = """#include <shmem.h>
static long counter, i, slot[2];
int main(void) {{ shmem_init(); {body} shmem_finalize(); }}
"""
MPI = """#include <mpi.h>
int main(void) {{ int one = 1, v, *m; MPI_Win w; MPI_Init(0, 0);
MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w); MPI_Win_lock_all(0, w);
do {{ MPI_Fetch_and_op(&one, &v, MPI_INT, 0, 0, MPI_SUM, w); {flush}(0, w); }} while (v < 2);
MPI_Win_unlock_all(w); MPI_Win_free(&w); MPI_Finalize(); }}
"""
LOCAL = """#include <infiniband/verbs.h>
#include <rdma_robust.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic long next; static long slot[3];
static void *work(void *no) {{ long i; while ((i = atomic_fetch_add(&next, 1)) < 2) {body} return no; }}
RR_PROCESS(A) void a(void) {{ pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); }}
"""
DRAW = "while ((i = shmem_atomic_fetch_inc(&counter, 0)) < 2)"


@pytest.mark.parametrize(
    ("text", "thread", "wanted"),
    [
        (SHMEM.format(body=f"{DRAW} shmem_p(&slot[i], i + 5, 1);"), "main_P0", "put P1.slot_1 = 6 inline unsignaled"),
        (MPI.format(flush="MPI_Win_flush"), "main_P1", "get v = faa(P0.win, one) unsignaled"),
        (LOCAL.format(body="slot[i] = 1;"), "work", "slot_1 = 1"),
    ],
)
def test_a_loop_ends_by_what_it_draws(text: str, thread: str, wanted: str) -> None:
    assert wanted in statements(evaluated(text), thread)


@pytest.mark.parametrize(
    "text",
    [
        LOCAL.format(body="next = 0;"),
        LOCAL.format(body="atomic_fetch_sub(&next, i);"),
        MPI.format(flush="(void)"),
    ],
)
def test_a_number_that_may_be_drawn_twice_ends_nothing(text: str) -> None:
    with pytest.raises(ProgramError) as refused:
        evaluated(text)
    assert {each.code for each in refused.value.diagnostics} == {"RR820"}
