"""What is decided for any number of copies, program by program, and what notices when a part of it is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rdma_robust.analyses.safety import reach as reach_module
from rdma_robust.analyses.safety.crowds import absences as exact_markings
from rdma_robust.analyses.safety.crowds import copy_steps, crowd_answers
from rdma_robust.analyses.safety.crowds.any_number import AnyNumber, search_any_number
from rdma_robust.analyses.safety.crowds.copy_steps import CopySteps
from rdma_robust.analyses.safety.goals import HangGoal, StateGoal
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached, ReachOutcome
from rdma_robust.analyses.safety.reach import reach_goals
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program_and_target
from rdma_robust.limits import Limits

PUTS = """\
domain 0..40
node S { x = 0 }
node Client[*] { one = 1 }
thread C[*] on Client[*] {
  reg i
  while i < PUTS { put S.x = one; i = i + 1 }
  while i > 0 { poll S; i = i - 1 }
  MORE
  end: skip
}
"""


def searched(text: str, target: str) -> AnyNumber:
    program, meant = load_program_and_target(text, "t.rdma", target)
    return search_any_number(program, [StateGoal(meant)], Limits.of(20))


def answered(text: str, target: str | None, model: Any = "sc") -> Reached:
    program, meant = load_program_and_target(text, "t.rdma", target or "1 == 1")
    return reach_goals(program, [StateGoal(meant) if target else HangGoal()], model, Limits.of(20)).answers[0]


def test_few_completions_are_counted_exactly() -> None:
    found = searched(PUTS.replace("PUTS", "2").replace("MORE", ""), "some C: C at end")
    assert found.found[0].lifted.numbers == (("C", 1),)
    never = searched(PUTS.replace("PUTS", "2").replace("MORE", "poll S"), "some C: C at end")
    assert (never.found, never.open) == ({}, {})


def test_more_completions_are_counted_again() -> None:
    """With 3 told apart a poll of five more would go; with 8 it does not."""
    found = searched(PUTS.replace("PUTS", "5").replace("MORE", ""), "some C: C at end")
    assert found.found[0].lifted.numbers == (("C", 1),)
    never = searched(PUTS.replace("PUTS", "5").replace("MORE", "poll S"), "some C: C at end")
    assert not never.found
    assert not never.open


@pytest.mark.ci
def test_too_many_completions_are_said_with_the_line_of_the_poll() -> None:
    left = searched(PUTS.replace("PUTS", "30").replace("MORE", "poll S"), "some C: C at end")
    assert not left.found
    assert "line 7, line 8" in left.open[0]
    assert "would have to count them" in left.open[0]


TWO_PLACES = """\
domain 0..1
node S { turn = 0 }
thread C[*] on S {
  reg r
  r = cas(turn, 0, 1)
  if r == 0 { a: skip; b: turn = 0; c: skip }
}
thread D[*] on S { reg r; await turn == 1; d: skip }
"""


@pytest.mark.parametrize(
    ("target", "copies"),
    [
        ("count(C at a) >= 1 && count(C at b) >= 1", None),
        ("count(C at a) >= 1 && count(C at c) >= 2", 3),
        ("count(C at c) >= 1 && count(C: r == 0 && C at c) >= 2", 2),
        ("(some C: C at c) && (some C: C at c && r == 0)", 1),
        ("(some C: C at a) && count(D at d) >= 2 && S.turn == 1", 3),
        ("count(D at d) >= 1 && S.turn == 0", 2),
        ("count(C at a) >= 2 || count(C ended) >= 2", 2),
        ("count(C at b) > 1 || count(C at b) != 0 && S.turn == 0", None),
        ("2 <= count(C: C ended)", 2),
        ("count(C: S.turn == 1) >= 4", 4),
        ("count(C ended) >= 0 && S.turn == 0", 0),
    ],
)
def test_numbers_of_copies(target: str, copies: int | None) -> None:
    """A copy counts for every condition that it meets, and for each only once."""
    found = searched(TWO_PLACES, target)
    assert not found.open
    assert (0 in found.found) == (copies is not None)
    if copies is not None:
        assert sum(n for _, n in found.found[0].lifted.numbers) == copies
        assert found.found[0].least


OWN_WORDS = """\
domain 0..1
node S { x = 0 }
node Client[*] { mine = 0 }
thread C[*] on Client[*] {
  reg r
  choose { mine = 1; set: skip } or { r = mine; look: skip }
}
"""


def test_each_copy_has_its_own_words() -> None:
    assert answered(OWN_WORDS, "some C: C at look && r == 1").answer is Answer.UNREACHABLE
    both = answered(OWN_WORDS, "(some C: C at set && mine == 1) && (some C: C at look && mine == 0)")
    assert both.copies is not None
    assert both.copies.numbers == (("C", 2),)


SPIN = """\
domain 0..1
node S { a = 0, b = 0 }
thread C[*] on S {
  reg r = 1
  while r != 0 { r = cas(a, 0, 1) }
  r = 1
  while r != 0 { r = cas(b, 0, 1) }
  b = 0
  a = 0
}
thread D[*] on S {
  reg r = 1
  while r != 0 { r = cas(b, 0, 1) }
  ORDER
  b = 0
}
"""
CROSSED = SPIN.replace("ORDER", "r = 1\n  while r != 0 { r = cas(a, 0, 1) }\n  a = 0")


def test_hangs() -> None:
    assert answered(SPIN.replace("ORDER", ""), None).answer is Answer.UNREACHABLE
    crossed = answered(CROSSED, None)
    assert crossed.copies is not None
    assert (crossed.copies.numbers, crossed.copies.least) == ((("C", 1), ("D", 1)), True)
    waits = answered("node S { x = 0 }\nthread C[*] on S { await x == 1 }\n", None)
    assert waits.copies is not None
    assert waits.copies.numbers == (("C", 1),)


def test_the_smallest_numbers_of_a_hang_are_of_all_copies() -> None:
    """A copy that goes on ends the wait of the other: a hang of one copy is none of two."""
    text = "domain 0..1\nnode S { x = 0 }\nthread C[*] on S { reg r; choose { x = 1 } or { r = x; await x == 1; x = 0 } }\n"
    found = answered(text, None)
    assert found.copies is not None
    assert found.copies.numbers == (("C", 1),)


def test_a_marking_is_dropped_for_one_with_the_same_numbers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dropping it for a larger one, as coverability may, forgets that nobody holds the lock: a hang is then not excluded."""
    lock = SPIN.replace("ORDER", "")
    assert answered(lock, None).answer is Answer.UNREACHABLE
    raised = exact_markings._raised

    def widened(node: Any) -> Any:
        node = raised(node)
        wide = node.wide
        for local in node.few:
            wide |= 1 << local
        return exact_markings._Node(node.control, wide, {}, node.before)

    monkeypatch.setattr(exact_markings, "_raised", widened)
    assert answered(lock, None).answer is Answer.UNKNOWN


def test_a_live_register_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(TWO_PLACES, "count(C at a) >= 1").answer is Answer.REACHABLE
    none_live = lambda thread, _: {p: (False,) * len(thread.registers) for p in thread.points}  # noqa: E731
    monkeypatch.setattr(copy_steps, "_live", none_live)
    text = TWO_PLACES.replace("r == 0 {", "r == 1 {")
    assert answered(text, "count(C at a) >= 1").answer is Answer.UNREACHABLE


def test_more_completions_than_are_told_apart_may_be_polled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that, what needs many completions would be called unreachable."""
    text = PUTS.replace("PUTS", "30").replace("MORE", "")
    assert searched(text, "some C: C at end").found[0].least

    def lost(self: CopySteps, _: Any, move: Any, t: int) -> Any:
        yield self._with(move.state, t, self.limited(move.state.threads[t]))

    monkeypatch.setattr(CopySteps, "_counted", lost)
    assert not searched(text, "some C: C at end").found


BOTH_END = """\
node S { x = 0 }
thread A[*] on S { x = 1 }
thread B[*] on S { await x == 1 }
"""


@pytest.fixture
def undecided_with_b_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the programs with copies of B and none of A."""

    def answer(program: Program, *args: Any, **options: Any) -> ReachOutcome:
        asked = reach_module.answer_goals(program, *args, **options)
        if {thread.name[0] for thread in program.threads} != {"B"}:
            return asked
        return replace(asked, answers=(Reached(Answer.UNKNOWN, Argument.LIMIT, "reached a limit"),))

    monkeypatch.setattr(crowd_answers, "answer_goals", answer)


@pytest.mark.usefixtures("undecided_with_b_alone")
def test_a_number_is_least_only_if_all_smaller_ones_are_decided() -> None:
    found = answered(BOTH_END, "count(A ended) >= 1 && count(B ended) >= 1", "rdma")
    assert found.copies is not None and found.copies.numbers == (("A", 1), ("B", 1))
    assert not found.copies.least


@pytest.mark.usefixtures("undecided_with_b_alone")
def test_the_first_numbers_that_are_not_decided_are_named_with_the_limit() -> None:
    found = answered(BOTH_END, None)
    assert found.answer is Answer.UNKNOWN
    assert found.reason == "not without a copy of A and B; with 1 copy of B: reached a limit"
