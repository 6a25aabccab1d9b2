"""Every family of constraints and every rule for candidates is needed: without it `sat` says something else."""

from __future__ import annotations

import pytest

from bench.message_programs import senders
from rdma_robust.errors import InternalError
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.encoding.match_candidates import RULES, candidate_pairs
from rdma_robust.messages.encoding.order_graph import FAMILIES
from rdma_robust.messages.encoding.unrolled_statements import Statements
from rdma_robust.messages.encoding.unrolling import unroll
from rdma_robust.messages.engines import match_clauses
from rdma_robust.messages.engines.channel_counts import ChannelCounts
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.engines.solved_models import UnmatchedError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Assume, Buffer, Statement
from rdma_robust.messages.message_answers import MessageQuestions
from tests.support.named_messages import NAMED, Expected

AFTER_THE_FIRST = """
proc A { reg x, y; req h, k; h = irecv x; k = irecv y tag 1; wait k; send 0 to B; wait h }
proc B { reg g; recv g; send 1 to A tag 2 }
proc C { send 2 to A tag 1 }
proc D { choose { send 3 to A tag 2 } or { skip } }
"""

NEEDED: dict[str, tuple[str, Buffer]] = {
    "PO": (NAMED["figure 1"].text, "infinite"),
    "MP": (NAMED["figure 1"].text, "infinite"),
    "U": (NAMED["all of an array"].text, "infinite"),
    "W": (NAMED["nobody sends"].text, "infinite"),
    "NS": (NAMED["only any"].text, "infinite"),
    "NR": (AFTER_THE_FIRST, "infinite"),
    "Z": (NAMED["figure 1"].text, "zero"),
}
"""A program for each family, and the buffer semantics under which it is needed."""


def said(text: str, buffer: Buffer, families: frozenset[str] = FAMILIES) -> object:
    """Return what `sat` says; that one of its runs is none, if it notices that itself."""
    try:
        answer = by_sat(load_messages(text, "p.mp"), buffer, MessageQuestions(count=True), NO_LIMITS, families)
    except (InternalError, UnmatchedError) as contradiction:
        return type(contradiction)
    if answer.reason:
        return answer.reason
    wrong = answer.violated == "yes", answer.deadlocked == "yes", answer.leaking == "yes"
    assert answer.matchings is not None
    assert answer.pairs is not None
    return Expected(*wrong, len(answer.pairs), answer.matchings.count)


@pytest.mark.parametrize("family", sorted(NEEDED))
def test_a_family_is_needed(family: str) -> None:
    text, buffer = NEEDED[family]
    assert said(text, buffer, FAMILIES - {family}) != said(text, buffer)


def test_every_family_has_a_program() -> None:
    assert set(NEEDED) == FAMILIES


@pytest.mark.parametrize("name", sorted(NAMED))
def test_named_programs_are_as_they_should(name: str) -> None:
    text, expected = NAMED[name]
    for buffer, truth in zip(BUFFERS, expected, strict=True):
        found = said(text, buffer)
        if "ever" in name:
            assert found == "a loop can go beyond 8 rounds, the bound of loops"
        else:
            assert found == truth


@pytest.mark.parametrize("name", sorted(NAMED))
def test_counts_of_channels_say_what_pairs_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = NAMED[name]
    counted = [said(text, buffer) for buffer in BUFFERS]
    monkeypatch.setattr(match_clauses, "is_counted", lambda *_: False)
    assert [said(text, buffer) for buffer in BUFFERS] == counted


@pytest.mark.parametrize("part", ["_in_order", "_choose"])
def test_every_part_of_counts_is_needed(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "proc A { reg x, y; recv x; recv y from any } proc B { send 1 to A; send 2 to A } proc C { send 3 to A }"
    before = said(text, "infinite")
    monkeypatch.setattr(ChannelCounts, part, lambda *_: None)
    assert said(text, "infinite") != before


def test_assumptions_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A: without it the assertion of "assumed otherwise" is reached with what was assumed not to be."""
    text = "proc A { reg x; recv x; assume x == 1; assert x == 1 } proc B { send 1 to A } proc C { send 2 to A }"
    before = said(text, "infinite")
    simple = Statements.simple

    def without(self: Statements, statement: Statement, state: object) -> None:
        if not isinstance(statement, Assume):
            simple(self, statement, state)  # type: ignore[arg-type]

    monkeypatch.setattr(Statements, "simple", without)
    assert said(text, "infinite") != before


def test_the_property_is_needed() -> None:
    """P: an assertion that fails only on the way into a deadlock is found."""
    text = "proc A { reg x; recv x; assert x != 1; recv x } proc B { send 1 to A }"
    assert said(text, "infinite") == Expected(True, True, False, 1, 0)


DROPS = {
    1: "proc A { reg x; recv x tag 1 } proc B { send 1 to A tag 1; send 2 to A tag 2 }",
    2: "proc A { reg x, y; recv x; recv y } proc B { send 1 to A; send 2 to A }",
    3: "proc A { reg x, y; recv x from B; recv y } proc B { send 1 to A } proc C { send 2 to A }",
    4: "proc A { reg x, y; recv x; send 0 to B; recv y } proc B { reg g; recv g; send 1 to A } proc C { send 2 to A }",
}


@pytest.mark.parametrize("rule", sorted(DROPS))
def test_a_rule_drops_pairs_with_its_reason(rule: int) -> None:
    unrolled = unroll(load_messages(DROPS[rule], "p.mp"), 8)
    found = candidate_pairs(unrolled, "infinite")
    assert rule in {each.rule for each in found.dropped()}
    assert all(each.reason for each in found.dropped())
    if rule != 1:
        assert candidate_pairs(unrolled, "infinite", rules=RULES - {rule}).count() > found.count()


def test_rule_one_looks_at_sets_of_values() -> None:
    """A server answers whoever asked: its answers are no candidates of others."""
    text = """
    proc Server { reg v, s; recv v from any s; send v to s on back }
    proc Asker { reg v; send 1 to Server; recv v on back }
    proc Other { reg v; recv v on back }
    port back
    """
    unrolled = unroll(load_messages(text, "p.mp"), 8)
    assert candidate_pairs(unrolled, "infinite", rules=RULES - {1}).count() == 3
    assert candidate_pairs(unrolled, "infinite").count() == 2


def test_what_may_not_be_sent_takes_no_receive() -> None:
    """C's second message is not always sent, so its third can be the second that A gets."""
    text = """
    proc A { reg x, y; recv x; recv y }
    proc C { send 1 to A; choose { send 2 to A } or { skip } send 3 to A }
    """
    unrolled = unroll(load_messages(text, "p.mp"), 8)
    assert (1, 2) in set(candidate_pairs(unrolled, "infinite").pairs())
    assert by_sat(load_messages(text, "p.mp"), "infinite", MessageQuestions(count=True), NO_LIMITS).leaking == "yes"


@pytest.mark.parametrize(("goal", "violated"), [("given", "yes"), ("twice", "no")])
def test_many_senders_make_each_receive_one_of_many(goal: str, violated: str) -> None:
    """With more candidates than pairs of literals are written for, no receive gets two messages, and none is lost."""
    answer = by_sat(load_messages(senders(34, goal), "p.mp"), "zero", MessageQuestions(pairs=False), NO_LIMITS)
    assert (answer.violated, answer.deadlocked, answer.leaking) == (violated, "no", "no")
