"""Families `[i in lo..hi]` and crowds `[*]`: what is made of them, and what is said where they are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from rdma_robust import check
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.language.defines import definitions, undefined, with_definitions
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.flow.valid import complaints
from rdma_robust.language.load import load_decidable, load_program, without_crowds, without_families
from rdma_robust.language.syntax.formatter import format_source
from tests.support.shares import share

CROWDS = sorted((Path(__file__).parents[3] / "litmus/crowds").glob("*.rdma"))

RING = """\
const N = 3
node Hub { turn = 0, slot[N] = 0 }
node Peer[i in 0..N-1] { word = i, seen = 0 }
thread P[i in 0..N-1] on Peer[i] {
  reg r = i
  put Hub.slot[i] = word
  put Peer[(i + 1) % N].seen = word
  poll Peer[(i + 1) % N]
  for k in 0..i { put Hub.slot[k] = 1 }
  rfence Hub
  r = seen
}
thread H on Hub { reg q; q = turn; q = slot[N - 1] }
outcome P[0].r == 0 && Peer[1].seen == 2 : allowed under sc
"""

BY_HAND = """\
const N = 3
node Hub { turn = 0, slot[N] = 0 }
node Peer_0 { word = 0, seen = 0 }
node Peer_1 { word = 1, seen = 0 }
node Peer_2 { word = 2, seen = 0 }
thread P_0 on Peer_0 {
  reg r = 0
  put Hub.slot[0] = word; put Peer_1.seen = word; poll Peer_1; put Hub.slot[0] = 1; rfence Hub; r = seen
}
thread P_1 on Peer_1 {
  reg r = 1
  put Hub.slot[1] = word; put Peer_2.seen = word; poll Peer_2; put Hub.slot[0] = 1; put Hub.slot[1] = 1
  rfence Hub; r = seen
}
thread P_2 on Peer_2 {
  reg r = 2
  put Hub.slot[2] = word; put Peer_0.seen = word; poll Peer_0
  put Hub.slot[0] = 1; put Hub.slot[1] = 1; put Hub.slot[2] = 1; rfence Hub; r = seen
}
thread H on Hub { reg q; q = turn; q = slot[N - 1] }
outcome P_0.r == 0 && Peer_1.seen == 2 : allowed under sc
"""

CROWD = """\
const FIRST = 1
node Server { lock = 0, data = 0 }
thread W[*] on Server { reg a; a = data }
node Client[*] { mine = FIRST, got[2] = 0 } // each has its own
thread C[*] on Client[*] {
  reg r
  get got[0] = cas(Server.lock, 0, 1)
  poll Server
  r = got[0]
  if r == 0 { put Server.data = mine; put Server.lock = 0 }
  got[r] = 1
}
thread T on Server { data = 2 }
"""


def plain(text: str) -> str:
    """What a program with families does, with other names for its copies."""
    told = canonical_text(load_decidable(text, "t"))
    for name, k in product(("Peer", "P"), range(10)):
        told = told.replace(f"{name}[{k}]", f"{name}_{k}").replace(f'"{name}_{k}.', f'"{name}_{k}.')
    return told.replace('"', "")


def test_a_family_is_what_its_copies_are() -> None:
    assert plain(RING) == plain(BY_HAND)
    program = load_decidable(RING, "t")
    assert [(t.name, t.node, t.family) for t in program.threads] == [
        *((f"P[{k}]", f"Peer[{k}]", ("P", k)) for k in range(3)),
        ("H", "Hub", None),
    ]
    assert not list(complaints(program))
    assert program.warnings == ()


def test_a_family_has_as_many_as_a_constant_says() -> None:
    for number in range(2, 6):
        text = with_definitions(RING.replace("Peer[1].seen == 2", "Hub.turn == 0"), [f"N={number}"])
        assert len(load_decidable(text, "t").threads) == number + 1
    assert check(with_definitions(RING, ["N=2"]), max_states=20_000).verdict is check(plain_of(2), max_states=20_000).verdict


def plain_of(number: int) -> str:
    nodes = "".join(f"node Peer_{k} {{ word = {k}, seen = 0 }}\n" for k in range(number))
    threads = ""
    for k in range(number):
        following = (k + 1) % number
        slots = "; ".join(f"put Hub.slot[{j}] = 1" for j in range(k + 1))
        sends = f"put Hub.slot[{k}] = word; put Peer_{following}.seen = word; poll Peer_{following}"
        threads += f"thread P_{k} on Peer_{k} {{ reg r = {k}; {sends}; {slots}; rfence Hub; r = seen }}\n"
    hub = f"node Hub {{ turn = 0, slot[{number}] = 0 }}\n"
    return f"{hub}{nodes}{threads}thread H on Hub {{ reg q; q = turn; q = slot[{number - 1}] }}\n"


def test_messages_macros_and_conditions_name_members() -> None:
    text = """\
node A[i in 0..1] { x = 1, b = 0, y = 0 }
macro tell(n, m) { put n.y = x; poll n; flush_to(m[1 - 1]) }
macro flush_to(n) { put n.y = 1; poll n }
thread T on A[0] { L: send x to U[1]; tell(A[2 - 1], A1) }
node A1[k in 0..0] { y = 0 }
thread U[i in 1..1] on A[i] { reg r; posted b from T; r = rpoll T; r = b }
invariant !(U[1] ended) || T at L || T ended || A[1].b == 1
outcome U[2 - 1].r == 1 && A1[0].y == 1 : allowed under sc
"""
    with pytest.raises(ProgramError, match=r"unknown node `A1\[0\]`(.|\n)*`A1` is declared later, on line 5"):
        load_program(text, "t")
    lines = text.splitlines()
    lines.insert(3, lines.pop(4))
    program = load_program("\n".join(lines), "t")
    told = canonical_text(program)
    assert "of A[0] x to U[1] on A[1]" in told
    assert "poll A1[0]" in told
    assert "put A[1] y" in told
    assert format_source("\n".join(lines), "t").count("A[2 - 1]") == 1


def bare(program: Program) -> str:
    return canonical_text(replace(program, outcomes=(), expectations=(), invariants=()))


@pytest.mark.parametrize("numbers", [{"C": 0, "W": 0}, {"C": 0, "W": 2}, {"C": 1, "W": 0}, {"C": 3, "W": 2}], ids=str)
def test_a_crowd_with_a_number_is_so_many_copies(numbers: Mapping[str, int]) -> None:
    program = load_program(CROWD, "t")
    assert not list(complaints(program))
    assert [t.name for t in program.crowds] == ["W", "C"]
    assert program.many_nodes == ("Client",)
    text = with_definitions(CROWD, definitions(numbers))
    found, expected = load_decidable(text, "t"), copies_of(program, numbers)
    assert bare(found) == bare(expected)
    assert [t.family for t in found.threads] == [t.family for t in expected.threads]
    assert undefined(text, CROWD, definitions(numbers)) == CROWD
    assert text.count("\n") == CROWD.count("\n")
    assert found.warnings == ()
    assert undefined(text.replace("poll Server", "poll Server\n  rfence Server"), CROWD, definitions(numbers)) == (
        CROWD.replace("poll Server", "poll Server\n  rfence Server")
    )


@pytest.mark.parametrize("path", share(CROWDS, 12), ids=lambda path: path.stem)
def test_litmus_crowds_with_a_number_are_so_many_copies(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    program = load_program(text, "t")
    for number in (0, 2):
        numbers = dict.fromkeys((thread.name for thread in program.crowds), number)
        given = with_definitions(text, definitions(numbers))
        found = load_program(given, "t")
        assert bare(found) == bare(copies_of(program, numbers))
        assert undefined(given, text, definitions(numbers)) == text
        written, names = without_families(given, "t")
        again = load_program(written, "t")
        assert [len(t.edges) for t in again.threads] == [len(t.edges) for t in found.threads]
        assert set(names) <= {t.name for t in found.threads} | set(found.nodes)


def test_a_crowd_needs_a_number_where_any_number_is_no_answer() -> None:
    with pytest.raises(ProgramError, match=r"give a number: -D W=2 -D C=2") as raised:
        without_crowds(load_program(CROWD, "t"))
    assert raised.value.diagnostics[0].span.line == 3
    assert load_decidable(CROWD, "t", crowds=True).crowds
    half = with_definitions(CROWD, ["W=1"])
    with pytest.raises(ProgramError, match=r"give a number: -D C=2"):
        load_decidable(half, "t")


@pytest.mark.parametrize(
    ("name", "said"),
    [("Client", "as many as threads `C`"), ("T", "is a thread"), ("X", "no constant `X`"), ("Servr", "no constant")],
)
def test_what_has_no_number(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        with_definitions(CROWD, [f"{name}=2"])


CLAIMS = """\
const N = 1
node A { x = 0 }
thread C[*] on A { reg r; r = x }
thread F[i in 1..N] on A { x = i }
"""


def claims(text: str, *define: str) -> tuple[list[str], int]:
    program = load_program(with_definitions(CLAIMS + text, define), "t")
    return [e.text for e in program.expectations], len(program.outcomes)


def test_claims_hold_for_the_numbers_they_are_about() -> None:
    by_constant = "expect robust when N <= 2\nexpect not robust, no hang under sc when N >= 3\n"
    assert claims(by_constant) == (["robust"], 0)
    assert claims(by_constant, "N=3") == (["not robust", "no hang under sc"], 0)
    assert claims("expect robust when F == 1\nexpect not robust when F >= 2", "N=2") == (["not robust"], 0)
    # What is said of any number is not said of one, and the other way round.
    assert claims("expect not robust") == (["not robust"], 0)
    assert claims("expect not robust", "C=2") == ([], 0)
    assert claims("expect not robust when C >= 3", "C=3") == (["not robust"], 0)
    assert claims("expect not robust when C >= 3", "C=2") == ([], 0)
    assert claims("expect not robust when C >= 3") == ([], 0)
    assert claims(by_constant, "C=1") == ([], 0)
    copy = "outcome C[2].r == 0 && F[1].x == 0 : allowed under sc when C >= 2\n".replace("F[1].x", "A.x")
    assert claims(copy) == ([], 0)
    assert claims(copy, "C=1") == ([], 0)
    assert claims(copy, "C=2") == ([], 1)


def test_an_invariant_of_any_number_is_one_of_each() -> None:
    text = CLAIMS + "invariant A.x <= 1\ninvariant C[2] ended || !(F[1] ended) when C >= 2\n"
    for define, number in ((), 1), (("C=1",), 1), (("C=2",), 2):
        assert len(load_program(with_definitions(text, define), "t").invariants) == number
