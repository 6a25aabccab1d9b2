"""Limits say what was given, and of a part that it is one; what is reached is what is said."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

import pytest

from rdma_robust.analyses.hardware.on_all_hardware import on_all_hardware
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.safety import reach
from rdma_robust.analyses.safety.goals import StateGoal
from rdma_robust.analyses.safety.handing_over import _Handing, verify_all
from rdma_robust.analyses.safety.verify import Status
from rdma_robust.counting.both_engines import CountingAnswer
from rdma_robust.language.load import load_decidable, load_program, load_program_and_target
from rdma_robust.limits import ENDLESS, Limits
from rdma_robust.messages.engines.engine_table import answered
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.message_answers import MessageQuestions
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from rdma_robust.robustness.crowds import decide_any
from rdma_robust.robustness.crowds.explicit_run import CrowdSearchResult
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.conftest import ROOT


class Clock:
    """A clock that goes on by `step` whenever somebody looks at it."""

    def __init__(self, step: float = 0.0) -> None:
        self.start = self.now = time.monotonic()
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now

    @property
    def gone(self) -> float:
        return self.now - self.start


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


def test_a_share_says_that_it_is_one(clock: Clock) -> None:
    whole = Limits.of(60.0)
    clock.now += 12
    assert whole.share(0.5).said("time") == "24 s, its share of the time limit of 60 s"
    assert whole.share(0.5).share(0.25).said("time") == "6 s, its share of the time limit of 60 s"
    assert whole.within(5.0).said("time") == "5 s, its share of the time limit of 60 s"
    assert whole.within(5.0, "what notes may take").said("time") == "5 s, what notes may take"
    assert Limits.of(None).within(5.0).said("time") == "5 s, its share of the time"
    assert whole.share(0.5).amount("time") == "24 s, its share of the time limit of 60 s"


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.00007, "0 s"), (0.017, "0.02 s"), (9.969, "9.97 s"), (1234.56, "1234.6 s")]
)
def test_a_share_is_said_in_plain_numbers(seconds: float, said: str) -> None:
    assert Limits.of(3600.0).within(seconds).said("time").startswith(f"{said}, its share")


def test_what_is_the_whole_is_called_so(clock: Clock) -> None:
    whole = Limits.of(60.0)
    clock.now += 58
    for limits in (whole, whole.share(1.0), whole.share(1 / 1), whole.within(3.0), whole.share(0.5).share(1.0)):
        assert limits.said("time").endswith("the time limit of 60 s")
    assert whole.within(3.0) is whole
    assert Limits.of(None).share(0.1) == Limits.of(None)


def test_states_are_those_given_before_those_of_a_search() -> None:
    assert Limits().by_default(100).said("states") == "the limit of 100 states"
    assert Limits(states=5).by_default(100).said("states") == "the limit of 5 states"
    assert Limits(states=500).by_default(100).said("states") == "the limit of 500 states"
    assert Limits(states=ENDLESS).by_default(100).states == ENDLESS
    assert [Limits(states=n).at_most(100).states for n in (None, 5, 500)] == [100, 5, 100]


def test_what_some_leave_of_their_shares_those_get_that_were_cut(clock: Clock) -> None:
    needs = {"quick": 1.0, "long": 40.0, "other": 2.0, "last": 1.0}
    had: list[tuple[str, float]] = []

    def work(item: str, part: Limits) -> bool:
        left = part.seconds_left() or 0.0
        had.append((item, left))
        clock.now += min(left, needs[item])
        return left >= needs[item]

    whole = Limits.of(100.0)
    assert whole.in_shares(list(needs), work, lambda done: not done) == [True] * 4
    assert dict(had[:4])["long"] == pytest.approx(33.0)
    assert [item for item, _ in had[4:]] == ["long"]
    assert clock.gone <= 100.0


SMALL = """node A { a, b, z }
node B { y }
thread T on A {
  loop {
    put B.y = a
    a = nondet(0, 9)
    b = nondet(0, 9)
  }
}
thread U on B {
  loop {
    put A.z = y
    assert y < 5
  }
}
invariant A.b < 10
"""
MESSAGES = """proc P {
  reg v
  for k in 1..40 { recv v from any }
}
proc Q { for k in 1..20 { send k to P } }
proc R { for k in 1..20 { send k to P } }
"""


@dataclass(frozen=True)
class Asked:
    """A question, and what it says of limits."""

    name: str
    ask: Callable[[Limits], Iterator[str]]


def checked(limits: Limits) -> Iterator[str]:
    outcome = check_text(SMALL, "small.rdma", CheckOptions(timeout=limits.seconds))
    yield from (outcome.reason, *outcome.left_out)


def verified(limits: Limits) -> Iterator[str]:
    found = verify_all(load_program(SMALL, "small.rdma"), limits)
    yield from (each.answer.reason for each in found.checked)


def reached(limits: Limits, *, model: str) -> Iterator[str]:
    program, meant = load_program_and_target(SMALL, "small.rdma", "A.z == 7 && A.a == 8 && B.y == 6")
    for answer in reach.reach_goals(program, [StateGoal(meant)], "sc" if model == "sc" else "rdma", limits).answers:
        yield answer.reason


def proved(limits: Limits) -> Iterator[str]:
    yield decide_safety(load_program(SMALL, "small.rdma"), "sc", limits).reason


def outcomes(limits: Limits) -> Iterator[str]:
    report = explore_outcomes(load_decidable(SMALL, "small.rdma"), limits=limits)
    yield from (f"reached {cut}" for cut in (report.sc.cut, report.rdma.cut) if cut)


def models(limits: Limits) -> Iterator[str]:
    program = load_decidable(SMALL, "small.rdma")
    yield from (each.reason for each in on_all_hardware(program, CheckOptions(), limits=limits).outcomes)


def messages(limits: Limits) -> Iterator[str]:
    yield answered(load_messages(MESSAGES, "small.mp"), "infinite", MessageQuestions(), limits).reason


ASKED = [
    Asked("check", checked),
    Asked("verify", verified),
    Asked("reach sc", partial(reached, model="sc")),
    Asked("reach rdma", partial(reached, model="rdma")),
    Asked("prove", proved),
    Asked("outcomes", outcomes),
    Asked("models", models),
    Asked("messages", messages),
]

TIME = re.compile(r"(?:(\d[\d.]*) s, its share of )?the time limit of (\S+) s")


@pytest.mark.parametrize("asked", ASKED, ids=lambda each: each.name)
@pytest.mark.parametrize(("seconds", "step"), [(7.0, 0.05), (60.0, 0.5), (60.0, 11.0)])
def test_every_time_limit_that_is_said_was_given_and_reached(
    asked: Asked, seconds: float, step: float, clock: Clock
) -> None:
    """Whatever search is cut where by a clock that runs fast: the whole is only named once it is over."""
    clock.step = step
    limits = Limits.of(seconds)
    for reason in asked.ask(limits):
        for share, whole in TIME.findall(reason):
            assert float(whole) == seconds, reason
            if share:
                assert float(share) < seconds, reason
            else:
                assert clock.gone >= seconds, reason
        assert "None" not in reason and "the limit of 0 states" not in reason


@pytest.mark.parametrize("given", [None, ENDLESS, 40])
def test_every_limit_of_states_that_is_said_was_given_or_is_documented(given: int | None) -> None:
    limits = Limits.of(0.5, given)
    for ask in (verified, partial(reached, model="sc"), partial(reached, model="rdma")):
        for reason in ask(limits):
            for number in re.findall(r"the limit of (\d+) states", reason):
                assert int(number) == (given or 0) or (given is None and int(number) in (20_000, 100_000)), reason


def test_claims_that_were_answered_stay_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "node A { x }\nnode B { y }\nthread T on A {\n  put B.y = x\n  x = 1\n  assert x == 2\n}\ninvariant B.y == 0\n"

    def too_large(*_: object, **__: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(_Handing, "_answers", too_large)
    monkeypatch.setattr(reach, "explore_machine", too_large)
    found = {each.claim.kind: each for each in verify_all(load_program(text, "p.rdma"), Limits.of(60.0)).checked}
    assert found["assertion"].status is Status.VIOLATED and found["assertion"].answer.run
    assert found["invariant"].status is Status.UNKNOWN and "out of memory" in found["invariant"].answer.reason


@pytest.mark.parametrize(("needs", "verdict"), [(30.0, Verdict.ROBUST), (44.0, Verdict.ROBUST), (70.0, Verdict.UNKNOWN)])
def test_counting_has_what_few_copies_leave_of_the_time(
    needs: float, verdict: Verdict, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that needs more than its share goes on where it was, and what ends it at last is the whole limit."""

    class Slow:
        def __init__(self, *_: object) -> None:
            self.left = needs

        def decide(self, limits: Limits, *_: object) -> CountingAnswer[object, object, object]:
            took = min(self.left, limits.seconds_left() or 0.0)
            self.left -= took
            clock.now += took
            return CountingAnswer(-1, None, None, "forward", 9, "time" if self.left else "")

    def few(counted: CrowdSearchResult, _context: object, limits: Limits) -> CrowdSearchResult:
        clock.now += limits.seconds_left() or 0.0
        return replace(counted, unknown=True)

    monkeypatch.setattr(decide_any, "CountingDecision", Slow)
    monkeypatch.setattr(decide_any, "explicitly", few)
    text = (ROOT / "litmus" / "crowds" / "lock-cas-one-list.rdma").read_text()
    outcome = check_text(text, "crowd.rdma", CheckOptions(timeout=60.0), crowds=True)
    assert outcome.verdict is verdict
    if verdict is Verdict.UNKNOWN:
        assert outcome.reason == "reached the time limit of 60 s after 9 markings" and clock.gone >= 60.0
