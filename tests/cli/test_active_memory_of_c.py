"""Memory of MPI in C that is in use: buffers of collective calls that do not block, elements of accumulates that overlap."""

from __future__ import annotations

import pytest

from tests.cli.test_messages_c import kinds

C = "MPI_COMM_WORLD, &q"
OWN = "int a[2] = {1, 2}, b[2] = {0}, n[2] = {1, 1}, d[2] = {0, 1}; (void)n; (void)d;\n"
CALLS = {
    "Ireduce": f"MPI_Ireduce(a, b, 1, MPI_INT, MPI_SUM, 0, {C});",
    "Iallreduce": f"MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, {C});",
    "Iscan": f"MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, {C});",
    "Ireduce_scatter": f"MPI_Ireduce_scatter(a, b, n, MPI_INT, MPI_SUM, {C});",
    "Ireduce_scatter_block": f"MPI_Ireduce_scatter_block(a, b, 1, MPI_INT, MPI_SUM, {C});",
    "Igather": f"MPI_Igather(a, 1, MPI_INT, b, 1, MPI_INT, 0, {C});",
    "Igatherv": f"MPI_Igatherv(a, 1, MPI_INT, b, n, d, MPI_INT, 0, {C});",
    "Iscatter": f"MPI_Iscatter(a, 1, MPI_INT, b, 1, MPI_INT, 0, {C});",
    "Iallgather": f"MPI_Iallgather(a, 1, MPI_INT, b, 1, MPI_INT, {C});",
    "Ialltoall": f"MPI_Ialltoall(a, 1, MPI_INT, b, 1, MPI_INT, {C});",
    "Ialltoallv": f"MPI_Ialltoallv(a, n, d, MPI_INT, b, n, d, MPI_INT, {C});",
}
WAIT = "MPI_Wait(&q, &s);"


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(
    ("use", "races"), [("x = b[0];", True), ("b[0] = 3;", True), ("a[0] = 3;", True), ("x = a[0];", False)]
)
def test_buffers_of_collective_calls_that_do_not_block(call: str, use: str, races: bool) -> None:
    assert kinds(f"{OWN}{call} if (rank == 0) {{ {use} }} {WAIT}") == ({"buffer-race"} if races else set())
    assert kinds(f"{OWN}{call} {WAIT} {use}") == set()


def test_what_is_exscanned_is_in_use_where_it_is_stored() -> None:
    call = f"{OWN}MPI_Iexscan(a, b, 1, MPI_INT, MPI_SUM, {C});"
    assert kinds(f"{call} if (rank == 1) x = b[0]; {WAIT}") == {"buffer-race"}
    assert kinds(f"{call} if (rank == 0) x = b[0]; {WAIT}") == set()


@pytest.mark.parametrize(
    ("kind", "distance", "races"),
    [
        ("MPI_INT", 0, False),
        ("MPI_INT", 4, False),
        ("MPI_INT", 1, True),
        ("MPI_INT", 3, True),
        ("MPI_INT", 8, False),
        ("MPI_2INT", 4, True),
        ("MPI_2INT", 8, False),
        ("MPI_LONG_INT", 8, True),
        ("MPI_LONG_INT", 16, False),
        ("MPI_FLOAT_INT", 4, True),
    ],
)
def test_accumulates_combine_whole_elements(kind: str, distance: int, races: bool) -> None:
    """Two elements each; the second process's are some bytes behind those of the first. Source: MPI 4.1 (2023), 12.7.1."""
    operation = "MPI_SUM" if kind == "MPI_INT" else "MPI_MAXLOC"
    body = (
        "char *m, data[64] = {0}; MPI_Win win; MPI_Win_allocate(64, 1, MPI_INFO_NULL, w, &m, &win); MPI_Win_fence(0, win);"
        f"MPI_Accumulate(data, 2, {kind}, 0, rank * {distance}, 2, {kind}, {operation}, win);"
        "MPI_Win_fence(0, win); MPI_Win_free(&win);"
    )
    assert kinds(body) == ({"window-race"} if races else set())


@pytest.mark.parametrize(
    "call",
    [
        "MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, w);",
        "MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, w);",
        "MPI_Allgather(b + rank, 1, MPI_INT, b, 1, MPI_INT, w);",
        "MPI_Gatherv(a, 1, MPI_INT, b, n, e, MPI_INT, 0, w);",
        f"MPI_Iscan(a, a, 1, MPI_INT, MPI_SUM, {C}); {WAIT}",
    ],
)
def test_buffers_of_one_collective_call_do_not_overlap(call: str) -> None:
    assert kinds(f"{OWN} int e[2] = {{0, 0}}; (void)e; {call}") == {"buffer-alias"}


def test_buffers_in_place_are_one() -> None:
    gathered = "MPI_Gather(rank ? a : MPI_IN_PLACE, 1, MPI_INT, rank ? 0 : b, 1, MPI_INT, 0, w);"
    reduced = "MPI_Allreduce(MPI_IN_PLACE, a, 2, MPI_INT, MPI_SUM, w); MPI_Reduce_scatter_block(MPI_IN_PLACE, a, 1, MPI_INT,"
    assert kinds(f"{OWN}{gathered} MPI_Alltoall(MPI_IN_PLACE, 0, 0, b, 1, MPI_INT, w); {reduced} MPI_SUM, w);") == set()
