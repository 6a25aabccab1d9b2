"""Every part of the constraints with clocks is needed: without it `smt` says something else, or follows from others."""

from __future__ import annotations

import pytest

from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.encoding.match_candidates import candidate_pairs
from rdma_robust.messages.encoding.unrolled_statements import Statements
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines.clock_formula import PARTS, ClockFormula
from rdma_robust.messages.engines.smt import SmtGoals, SmtQuestions, by_smt
from rdma_robust.messages.engines.smt_solver import SmtSolver, SmtUndecidedError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Assume, Buffer, Statement
from rdma_robust.messages.message_answers import MatchedPair, Matchings, MessageQuestions
from rdma_robust.messages.replay.replaying import confirm_answer
from tests.support.named_messages import NAMED, Expected
from tests.support.shares import share

FIGURE_1 = NAMED["figure 1"].text
POSTED_FIRST = """
proc A { reg x, y; req h; h = irecv x tag 0; recv y; send 1 to A }
proc B { send 0 to A }
"""
A_SERVER = """
proc S { reg v, s; recv v from any s; send v to s; recv v from any s; send v to s }
proc A { reg x; send 1 to S; recv x }
proc B { reg x; send 2 to S; recv x }
"""
PERHAPS_FIRST = """
proc A { reg x; recv x; recv x; recv x }
proc B { choose { send 1 to A } or { skip } send 2 to A; send 3 to A }
proc C { send 3 to A }
"""
READY_ONCE = """
proc A { reg x; req h; h = irecv x; send 0 to B; wait h }
proc B { reg y; recv y; send ready 1 to A }
"""
READY_BEHIND = """
proc A {{ reg x, y; req h, g; h = irecv x; g = irecv y {1}; send 0 to B; wait h, g }}
proc B {{ reg z; recv z; send 3 to A {0}; send ready 1 to A {1} }}
"""

NEEDED: dict[str, tuple[str, Buffer]] = {
    "PO reached": (NAMED["figure 4"].text, "infinite"),
    "PO clocks": (FIGURE_1, "zero"),
    "MP issued": (NAMED["only any"].text, "zero"),
    "MP accepts": (A_SERVER, "infinite"),
    "MP clocks": (FIGURE_1, "zero"),
    "MP together": (FIGURE_1, "zero"),
    "MP values": (A_SERVER, "infinite"),
    "U receives": ("proc A { reg x; recv x } proc B[i in 1..3] { send 1 to A }", "infinite"),
    "W matched": (NAMED["nobody sends"].text, "infinite"),
    "W clocks": (FIGURE_1, "zero"),
    "NS matched": (NAMED["only any"].text, "infinite"),
    "NS clocks": (PERHAPS_FIRST, "infinite"),
    "NR matched": (POSTED_FIRST, "infinite"),
    "NR clocks": (POSTED_FIRST, "infinite"),
    "Z matched": (FIGURE_1, "zero"),
    "Z clocks": (FIGURE_1, "zero"),
    "look waits": ("proc A { reg s; probe from any s; assert s == 1 } proc B { send 1 to A }", "infinite"),
    "look issued": (
        "proc A { reg f; iprobe from B into f; assert !f; send 1 to B; recv f } proc B { reg x; recv x; send 2 to A }",
        "infinite",
    ),
    "look there": ("proc A { reg f, x; recv x; iprobe from B into f; assert !f } proc B { send 1 to A }", "infinite"),
    "look channel": (
        "proc A { reg t; probe from B tag any t; assert t == 1 } proc B { send 1 to A tag 1; send 2 to A tag 2 }",
        "infinite",
    ),
    "look posted": (
        "proc A { reg f, x; req h; h = irecv x; iprobe from B into f; assert !f; wait h } proc B { send 1 to A }",
        "infinite",
    ),
    "ready issued": ("proc A { reg x; recv x } proc B { send ready 1 to A }", "infinite"),
    "ready there": (f"{READY_ONCE} proc C {{ send 2 to A }}", "infinite"),
    "ready channel": (READY_BEHIND.format("", ""), "infinite"),
    "ready posted": (READY_BEHIND.format("tag 1", "tag 2"), "infinite"),
}
"""A program for each part, and the buffer semantics under which it is needed."""

REDUNDANT = {
    "U sends": "of two receives that accept a send the first is matched before it is (NR), so not with it (MP together)",
    "lemma counts": "by U, as every match has one receive and one send",
    "lemma sums": "by U and MP, as what is received is then what is sent, in another order",
}
"""What follows from the other parts: it is there because solvers find proofs by it."""


def claimed(text: str, buffer: Buffer, parts: frozenset[str] = PARTS) -> Expected:
    """Return what the constraints have as solutions, before any of them is made a run."""
    program = load_messages(text, "p.mp")
    formula = ClockFormula(candidate_pairs(unroll(program, 8, with_looks=True), buffer), SmtSolver(NO_LIMITS), parts)
    asked, pairs = SmtQuestions(program, formula), set[MatchedPair]()
    violated = asked.one_of(asked.violations().values()) is not None
    asked.feasible(pairs)
    count = asked.matchings(100, 0, exact=True).count
    return Expected(violated, asked.deadlock() is not None, asked.leak() is not None, len(pairs), count)


def said(text: str, buffer: Buffer) -> object:
    """Return what `smt` says, after its runs were replayed."""
    program = load_messages(text, "p.mp")
    answer = by_smt(program, buffer, MessageQuestions(count=True), NO_LIMITS)
    confirm_answer(program, answer)
    if answer.reason:
        return answer.reason
    wrong = answer.violated == "yes", answer.deadlocked == "yes", answer.leaking == "yes"
    assert answer.matchings is not None
    assert answer.pairs is not None
    return Expected(*wrong, len(answer.pairs), answer.matchings.count)


@pytest.mark.parametrize("part", sorted(NEEDED))
def test_a_part_is_needed(part: str) -> None:
    text, buffer = NEEDED[part]
    assert claimed(text, buffer, PARTS - {part}) != claimed(text, buffer)


def test_every_part_has_a_program_or_a_reason() -> None:
    assert set(NEEDED) | set(REDUNDANT) == PARTS


@pytest.mark.ci
@pytest.mark.parametrize("part", sorted(REDUNDANT))
def test_a_part_follows_from_the_others(part: str) -> None:
    for text, buffer in (*NEEDED.values(), (NAMED["all of an array"].text, "zero")):
        assert claimed(text, buffer, PARTS - {part}) == claimed(text, buffer)


@pytest.mark.parametrize("name", share(sorted(NAMED), 4))
def test_named_programs_are_as_they_should(name: str) -> None:
    text, expected = NAMED[name]
    for buffer, truth in zip(BUFFERS, expected, strict=True):
        found = said(text, buffer)
        assert found == ("a loop can go beyond 8 rounds, the bound of loops" if "ever" in name else truth)


def test_assumptions_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A: without it the assertion is reached with what was assumed not to be."""
    text = "proc A { reg x; recv x; assume x == 1; assert x == 1 } proc B { send 1 to A } proc C { send 2 to A }"
    assert not claimed(text, "infinite").violated
    simple = Statements.simple

    def without(self: Statements, statement: Statement, state: object) -> None:
        if not isinstance(statement, Assume):
            simple(self, statement, state)  # type: ignore[arg-type]

    monkeypatch.setattr(Statements, "simple", without)
    assert claimed(text, "infinite").violated


def test_the_property_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """P: an assertion that fails only on the way into a deadlock is found, and not if it is not asked for."""
    text = "proc A { reg x; recv x; assert x != 1; recv x } proc B { send 1 to A }"
    assert said(text, "infinite") == Expected(True, True, False, 1, 0)
    monkeypatch.setattr(SmtGoals, "violations", lambda _: {})
    assert said(text, "infinite") == Expected(False, True, False, 1, 0)


ARITHMETIC = """
proc A {{
  reg x, y
  recv x
  recv y
  assert {}
}}
proc B {{ send -7 to A }}
proc C {{ send 2 to A }}
"""


@pytest.mark.parametrize(
    ("condition", "violated"),
    [
        ("x * y == -14 && x + y == -5", "no"),
        ("x / y == -3 && x % y == -1 || x / y == 0 && x % y == 2", "no"),
        ("x / y == -4 || x / y == 0", "yes"),
        ("x % y != 2", "yes"),
        ("y * x - x * y == 0", "no"),
        ("-x == 7 || -y == 7", "no"),
    ],
)
def test_arithmetic_is_that_of_the_language(condition: str, violated: str) -> None:
    answer = by_smt(load_messages(ARITHMETIC.format(condition), "p.mp"), "infinite", MessageQuestions(), NO_LIMITS)
    assert (answer.violated, answer.reason) == (violated, "")


def test_limits_are_named() -> None:
    program = load_messages(FIGURE_1, "p.mp")
    answer = by_smt(program, "infinite", MessageQuestions(count=True), Limits.of(0.0))
    assert (answer.violated, answer.matchings) == ("unknown", Matchings(0, False))
    assert "the time limit of 0 s" in answer.reason
    assert "the memory limit of 1 MiB" in by_smt(program, "infinite", MessageQuestions(), Limits(memory=1)).reason


def test_what_z3_does_not_know_is_unknown_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> object:
        raise SmtUndecidedError("(incomplete (theory arithmetic))")

    monkeypatch.setattr(SmtSolver, "model", unknown)
    answer = by_smt(load_messages(FIGURE_1, "p.mp"), "infinite", MessageQuestions(), NO_LIMITS)
    assert (answer.violated, answer.deadlocked, answer.leaking) == ("unknown", "unknown", "unknown")
    assert answer.reason == "z3 does not know: (incomplete (theory arithmetic))"


def test_z3_itself_says_why_it_does_not_know() -> None:
    solver = SmtSolver(NO_LIMITS)
    x, y, z = (solver.z3.Int(name) for name in "xyz")
    solver._solver.set("rlimit", 1)
    solver.add(x > 2, y > 2, z > 2, x * x * x + y * y * y == z * z * z)
    with pytest.raises(SmtUndecidedError, match=r"\w"):
        solver.model()
