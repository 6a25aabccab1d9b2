"""P(n) of a program with crowds."""

from dataclasses import replace

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.expr import Name
from rdma_robust.language.flow.canonical import canonical_text, same_program
from rdma_robust.language.flow.claims import PointAt
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.flow.valid import complaints
from rdma_robust.language.load import load_decidable as load
from tests.support.crowded import crowd

LOCK = """
program lock
node S { lock = 0, data = 0 }
node CN { mine = 1, got = 0 }
thread W on S { data = 1 }
thread C on CN { reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  put S.data = mine
  put S.lock = 0
}
"""

TWO = """
program lock
node S { lock = 0, data = 0 }
node C1 { mine = 1, got = 0 }
node C2 { mine = 1, got = 0 }
thread W on S { data = 1 }
thread CA on C1 { reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  put S.data = mine
  put S.lock = 0
}
thread CB on C2 { reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  put S.data = mine
  put S.lock = 0
}
"""


def test_each_copy_has_its_own_node() -> None:
    two = copies_of(crowd(LOCK, "C"), {"C": 2})
    assert not list(complaints(two))
    written = canonical_text(load(TWO, ""))
    for old, new in (("C1", "CN[1]"), ("C2", "CN[2]"), ("CA", "C[1]"), ("CB", "C[2]")):
        written = written.replace(f" {old}", f" {new}")
    assert sorted(canonical_text(two).splitlines()) == sorted(written.splitlines())
    assert [t.family for t in two.threads] == [None, ("C", 1), ("C", 2)]


def test_copies_on_a_shared_node_share_its_words() -> None:
    program = crowd("node A { x = 0 }\nnode B { y = 0 }\nthread T on A {\n x = 1\n put B.y = x\n}", "T")
    three = copies_of(program, {"T": 3})
    assert [t.node for t in three.threads] == ["A"] * 3
    assert three.cells == program.cells


def test_without_copies_only_the_others_are_left() -> None:
    alone = copies_of(crowd(LOCK, "C"), {"C": 0})
    assert [t.name for t in alone.threads] == ["W"]
    assert {c.node for c in alone.cells} == {"S"}


def test_what_a_program_says_knows_of_crowds() -> None:
    program = crowd(LOCK, "C")
    assert not list(complaints(program))
    assert not same_program(program, load(LOCK, ""))
    assert [t.name for t in program.crowds] == ["C"]


@pytest.mark.parametrize("numbers", [{}, {"C": -1}, {"C": 1, "W": 2}, {"C": 100_000}])
def test_numbers_that_are_none(numbers: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        copies_of(crowd(LOCK, "C"), numbers)


def test_many_of_a_node_need_many_of_its_thread() -> None:
    program = crowd("node TN { x = 0 }\nnode B { y = 0 }\nthread T on TN { x = 1 }\nthread U on B { put TN.x = y }", "T")
    assert any("each of which only its own thread names" in c.message for c in complaints(program))


COUNTED = """node S { x }
thread T[*] on S { reg r; a: r = x; x = 1 }
outcome count(T: r == 1) >= 1 : allowed under sc
invariant count(T: T at a && r == 0) <= 2
"""


def test_numbers_of_copies_are_checked_in_programs_without_a_text() -> None:
    program = load(COUNTED, "m.rdma", crowds=True)
    assert not list(complaints(program))
    line = program.invariants[0]
    name, copies = line.counts[0]
    wrong = {
        "of which there are not many": (name, replace(copies, thread="U")),
        "unknown name": (name, replace(copies, condition=Name("T.s"))),
        "has no label": (name, replace(copies, atoms=(("T at b", PointAt("T", "b")),), condition=Name("T at b"))),
        "has two meanings": ("S.x", copies),
    }
    for said, counts in wrong.items():
        changed = replace(program, invariants=(replace(line, condition=Name(counts[0]), counts=(counts,)),))
        assert any(said in str(each) for each in complaints(changed)), said
