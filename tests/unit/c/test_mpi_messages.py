"""Messages beside one-sided MPI: what those that do not block become, which accesses race with them, and what is refused."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
from tests.support.c_automata import evaluated, statements
from tests.support.c_races import races_of_c

BOTH = "MPI_LONG, {}, 3, MPI_COMM_WORLD"
ISEND = f"MPI_Isend(&v, 1, {BOTH.format(1)}, &q);"
IRECV = f"MPI_Irecv(&v, 1, {BOTH.format(0)}, &q);"
TWO = f"{ISEND.replace('&q', 'p')} {ISEND.replace('&v', '&w').replace('&q', 'p + 1')}"
WAIT = "MPI_Wait(&q, MPI_STATUS_IGNORE);"
PUT = "MPI_Put(&w, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win); MPI_Win_flush(1, win);"


def program(zero: str, one: str = "") -> str:
    """Return C in which rank 0 does something, and rank 1, behind a barrier."""
    return (
        "#include <mpi.h>\nint main(void) { int rank, f = 0; long *m, v = 5, w = 6; MPI_Win win; MPI_Request q, p[2];\n"
        "MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        "MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &win); m[0] = m[1] = 0; MPI_Barrier(MPI_COMM_WORLD);\n"
        f"if (rank == 0) {{ {zero} }}\nif (rank == 1) {{ {one} }}\n MPI_Barrier(MPI_COMM_WORLD); return 0; }}\n"
    )


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"{IRECV} {WAIT}", {"await message == 1", "v_2 = message_data", "v = v_2"}),
        (
            f"{IRECV} MPI_Recv(m, 1, {BOTH.format(0)}, MPI_STATUS_IGNORE); {WAIT}",
            {"await message_2 == 1", "win = message_data_2", "v_2 = message_data"},
        ),
        (
            f"{IRECV} while (!f) MPI_Test(&q, &f, MPI_STATUS_IGNORE);",
            {"message_3 = message", "await message == 1", "v = v_2"},
        ),
    ],
)
def test_a_message_is_stored_where_it_is_waited_for(body: str, wanted: set[str]) -> None:
    found = statements(evaluated(program(f"{ISEND} {WAIT} {ISEND} {WAIT}", f"{body} m[1] = v;")), "main_P1")
    assert wanted <= set(found)


@pytest.mark.parametrize(
    ("zero", "one", "races"),
    [
        (f"{PUT} {ISEND} {WAIT}", f"{IRECV} {WAIT} w = m[0];", 0),
        (f"{PUT.replace('flush', 'flush_local')} {ISEND} {WAIT}", f"{IRECV} {WAIT} w = m[0];", 1),
        (f"{PUT} {ISEND} {WAIT}", f"{IRECV} w = m[0]; {WAIT}", 1),
        (f"{ISEND} v = 7; {WAIT}", f"{IRECV} {WAIT}", 1),
        (f"{ISEND} {WAIT} v = 7;", f"{IRECV} {WAIT} v = 8;", 0),
        (
            f"{TWO} MPI_Waitall(2, p, 0); v = w = 7;",
            f"{IRECV} {WAIT} {IRECV} {WAIT}",
            0,
        ),
        (
            f"{TWO} MPI_Wait(p + 1, 0); v = w = 7;",
            f"{IRECV} {WAIT} {IRECV} {WAIT}",
            1,
        ),
    ],
)
def test_what_races_with_a_message(zero: str, one: str, races: int) -> None:
    assert len(races_of_c(program(zero, one))) == races


@pytest.mark.parametrize("peer", ["0, 3", "MPI_ANY_SOURCE, 3", "0, MPI_ANY_TAG", "MPI_ANY_SOURCE, MPI_ANY_TAG"])
def test_a_message_from_any_where_only_one_is_sent(peer: str) -> None:
    """It is the message that is named, and its status says so."""
    take = f"MPI_Recv(&v, 1, MPI_LONG, {peer}, MPI_COMM_WORLD, &s);"
    found = [
        evaluated(program(f"{PUT} {ISEND} {WAIT}", f"MPI_Status s; {each} if (s.MPI_SOURCE + s.MPI_TAG == 3) w = m[0];"))
        for each in (take, take.replace(peer, "0, 3"))
    ]
    assert statements(found[0], "main_P1") == statements(found[1], "main_P1")
    assert races_of_c(program(f"{PUT} {ISEND} {WAIT}", f"MPI_Status s; {take} w = m[0];")) == set()


def test_a_message_of_any_tag_where_several_are_sent_is_refused() -> None:
    two = f"{ISEND} {WAIT} {ISEND.replace('1, 3', '1, 4')} {WAIT}"
    with pytest.raises(ProgramError, match="MPI_ANY_TAG is not modelled where several are sent"):
        evaluated(program(two, f"{IRECV.replace('0, 3', '0, MPI_ANY_TAG')} {WAIT}"))


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (f"{IRECV} w = v; {WAIT}", "`v` is accessed while a message into it is under way"),
        (f"{IRECV} {PUT.replace('&w', '&v')} {WAIT}", "`v` is accessed while a message into it is under way"),
        (f"{IRECV.replace('&v', 'm')} {WAIT}", "into a window, `win`, is not modelled"),
        (IRECV.replace("&v, 1", "m, 2").replace("Irecv", "Recv").replace("&q", "0"), "of another length than what is sent"),
        (f"{IRECV} MPI_Waitany(1, &q, &f, 0);", "`MPI_Waitany` of a request for a message is not modelled"),
        (
            f"{IRECV.replace('q', 'p[0]')} {IRECV.replace('q', 'p[1]').replace('&v', '&w')} MPI_Testall(2, p, &f, 0);",
            "of several requests",
        ),
    ],
)
def test_what_is_refused_beside_a_message(one: str, says: str) -> None:
    with pytest.raises(ProgramError) as refused:
        evaluated(program(f"{ISEND} {WAIT}", one))
    found = [(each.code, each.span.line, says in each.message) for each in refused.value.diagnostics]
    assert found == [("RR814", 6, True)]
