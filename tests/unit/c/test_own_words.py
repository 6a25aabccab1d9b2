"""Locals that others read and only their own thread writes: it knows what it reads there, and else it does not."""

from __future__ import annotations

import pytest

from rdma_robust.c.evaluate.round_facts import World
from tests.support.c_automata import evaluated, statements

HEAD = """#include <mpi.h>
#include <pthread.h>
static void *other(void *at) { *(long *)at = 2; return 0; }
int main(int argc, char **argv) { int rank; long *m, v = 5, w = 6; MPI_Win win; pthread_t t;
MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &win); m[0] = m[1] = 0; MPI_Barrier(MPI_COMM_WORLD);
if (rank == 0) {
"""
PUT = "MPI_Put(&{0}, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); MPI_Win_flush(1, win);"
SAID = "MPI_Put(&w, 1, MPI_LONG, 1, 1, 1, MPI_LONG, win);"
GET = "MPI_Get(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); MPI_Win_flush(1, win);"
WRITTEN = "put P1.win_o8 = w unsignaled"
CREATE = f"pthread_create(&t, 0, other, &v); if (v == 2) {SAID} pthread_join(t, 0);"


def origin(body: str) -> list[str]:
    """Return what rank 0 does."""
    return statements(evaluated(HEAD + body + "} return 0; }"), "main_P0")


def test_a_loop_over_a_local_that_is_put_is_unrolled() -> None:
    found = origin(f"for (long i = 0; i < 3; i++) {{ {PUT.format('i')} }}")
    assert [each for each in found if each.startswith("i = ")] == ["i = 0", "i = 1", "i = 2", "i = 3"]
    assert sum(each.startswith("put") for each in found) == 3


def test_what_a_local_holds_when_set_up_ends_is_known() -> None:
    assert WRITTEN not in origin(f"{PUT.format('v')} if (v != 5) {SAID}")


@pytest.mark.parametrize("body", [f"v = 1; {GET} if (v == 0) {SAID}", f"v = 1; {CREATE} {PUT.format('v')}"])
def test_what_others_write_is_not_known(body: str) -> None:
    assert WRITTEN in origin(body)


def test_a_thread_that_took_every_word_for_its_own_would_not_see_what_it_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "write_elsewhere", lambda _world, _word: None)
    assert WRITTEN not in origin(f"v = 1; {GET} if (v == 0) {SAID}")
