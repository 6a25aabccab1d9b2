"""Partitioned messages of MPI in C: what the standard says of their partitions, and what is refused."""

from __future__ import annotations

import pytest

from rdma_robust.errors import ProgramError
from tests.cli.test_messages_c import kinds

DECLARED = "int b[8] = {0}, f = 0;\n"
ENDS = "MPI_COMM_WORLD, MPI_INFO_NULL, &q);"
TO = f"MPI_Psend_init(b, 2, 4, MPI_INT, 1, 7, {ENDS}"
FROM = f"MPI_Precv_init(b, 2, 4, MPI_INT, 0, 7, {ENDS}"
WAIT = "MPI_Wait(&q, &s);"
FREE = "MPI_Request_free(&q);"
READY = "MPI_Pready_range(0, 1, q);"
SENT = f"{TO} MPI_Start(&q); {READY} {WAIT} {FREE}"
GOT = f"{FROM} MPI_Start(&q); {WAIT} {FREE}"
FIRST = "while (!f) MPI_Parrived(q, 0, &f);"


def both(zero: str, one: str) -> str:
    return f"{DECLARED}if (rank == 0) {{ {zero} }} else {{ {one} }}"


ASK, TELL = "MPI_Recv(&x, 1, MPI_INT, 1, 3, w, &s);", "MPI_Send(&x, 1, MPI_INT, 0, 3, w);"
AGAIN = "for (x = 0; x < 3; x++) {{ {} }} MPI_Request_free(&q);"
TWO = "MPI_Request other; MPI_P{}_init(&y, 1, 1, MPI_INT, {}, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &other);"


@pytest.mark.parametrize(
    ("zero", "one"),
    [
        (
            f"{TO} b[1] = 3; MPI_Start(&q); b[4] = 5; {READY} {WAIT} {FREE}",
            f"{GOT} assert(b[1] == 3 && b[4] == 5 && s.MPI_SOURCE == 0 && s.MPI_TAG == 7);",
        ),
        (
            f"{TO} MPI_Start(&q); b[0] = 5; MPI_Pready(0, q); {ASK} b[4] = 6; MPI_Pready(1, q); {WAIT} {FREE}",
            f"{FROM} MPI_Start(&q); {FIRST} assert(b[0] == 5); {TELL} {WAIT} {FREE} assert(b[4] == 6);",
        ),
        (
            TO + AGAIN.format(f"b[0] = x; MPI_Start(&q); MPI_Pready(1, q); MPI_Pready(0, q); {WAIT}"),
            FROM + AGAIN.format(f"MPI_Start(&q); {WAIT} assert(b[0] == x);"),
        ),
        (SENT.replace(", 1, 7", ", MPI_PROC_NULL, 7"), GOT.replace(", 0, 7", ", MPI_PROC_NULL, 7")),
        (
            f"{TO} b[0] = 2; {TWO.format('send', 1)} MPI_Start(&other); MPI_Start(&q); {READY} MPI_Pready(0, other); {WAIT}"
            f"{FREE} MPI_Wait(&other, &s); MPI_Request_free(&other);",
            f"{FROM} {TWO.format('recv', 0)} MPI_Start(&q); MPI_Start(&other); {WAIT} {FREE} MPI_Wait(&other, &s);"
            "MPI_Request_free(&other); assert(b[0] == 2 && y == 0);",
        ),
        (
            f"int l[2] = {{1, 0}}; {SENT.replace(READY, 'MPI_Pready_list(2, l, q);')}",
            f"{GOT} while (!f) MPI_Test(&q, &f, &s);",
        ),
    ],
    ids=("data", "one-after-the-other", "again", "nobody", "matched-where-they-are-made", "a-list"),
)
def test_right_programs(zero: str, one: str) -> None:
    assert kinds(both(zero, one)) == set()


@pytest.mark.parametrize(
    ("zero", "one", "expected"),
    [
        (SENT.replace(READY, "MPI_Pready(0, q); b[1] = 5; MPI_Pready(1, q);"), GOT, "buffer-race"),
        (SENT, GOT.replace(WAIT, f"{FIRST} x = b[0]; x = b[4]; {WAIT}"), "buffer-race"),
        (SENT.replace(READY, "MPI_Pready(0, q);"), GOT, "deadlock"),
        (SENT.replace(READY, f"MPI_Pready(0, q); {READY}"), GOT, "invalid-request"),
        (SENT.replace("MPI_Start(&q); MPI_Pready_range(0, 1, q);", f"{READY} MPI_Start(&q);"), GOT, "invalid-request"),
        (SENT.replace(READY, "MPI_Pready(2, q);"), GOT, "invalid-argument"),
        (SENT, GOT.replace("2, 4", "2, 3"), "invalid-count"),
        (SENT, GOT.replace("2, 4", "3, 4"), "buffer-overflow"),
        (SENT, GOT.replace(", 0, 7", ", MPI_ANY_SOURCE, 7"), "invalid-rank"),
        (SENT, "MPI_Recv(b, 8, MPI_INT, 0, 7, w, &s);", "deadlock"),
        (SENT.replace(FREE, ""), GOT, "request-leak"),
    ],
)
def test_wrong_programs(zero: str, one: str, expected: str) -> None:
    assert expected in kinds(both(zero, one))


@pytest.mark.parametrize(
    ("zero", "one", "said"),
    [
        (SENT, GOT.replace("2, 4", "4, 2"), "both sides of this partitioned message have other partitions"),
        (SENT, GOT.replace(WAIT, f"MPI_Parrived(q, 1, &f); if (f) x = 1; {WAIT}"), "whether"),
    ],
)
def test_what_is_refused(zero: str, one: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        kinds(both(zero, one))
