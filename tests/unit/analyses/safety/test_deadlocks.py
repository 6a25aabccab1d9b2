"""The compiled search for deadlocks against the SC machine, which knows nothing of counter programs."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.safety import sequential as deadlocks
from rdma_robust.analyses.safety.exploration import explore_machine
from rdma_robust.analyses.safety.goals import HangGoal
from rdma_robust.analyses.safety.sequential import search_deadlocks
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.semantics.machines.sc import ScMachine
from tests.support.random_programs import random_program
from tests.support.shares import share

PROGRAMS = 400


def random_waiting(seed: int) -> Program:
    """Return a random program, half of them with `await` where others have `assume`."""
    rng = Random(seed)
    text = random_program(rng, loops=rng.random() < 0.5)
    return blocking(load_program(text.replace("assume", "await") if rng.random() < 0.5 else text, "random.rdma"))


def hangs(program: Program) -> bool:
    found = explore_machine(ScMachine(program), [HangGoal()], NO_LIMITS)
    assert not found.cut and not found.undecided
    return bool(found.runs)


def program(body: str) -> Program:
    return blocking(load_program(f"node A {{ x, y }}\nnode B {{ z }}\n{body}", "one.rdma"))


@pytest.mark.parametrize("chunk", share(range(4), 4))
def test_random_programs(chunk: int) -> None:
    found = {True: 0, False: 0}
    for seed in range(chunk * PROGRAMS // 4, (chunk + 1) * PROGRAMS // 4):
        one = random_waiting(seed)
        answer = search_deadlocks(one, NO_LIMITS)
        if answer is None:
            continue
        assert (answer.run is not None) == hangs(one), one.source
        assert (answer.run is None) == ((search_deadlocks(one, NO_LIMITS, compiled=False) or answer).run is None)
        found[answer.run is not None] += 1
    assert found[True] > 5 and found[False] > 20


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("thread T on A { await x == 1 }", True),
        ("thread T on A { assume x == 1 }", False),
        ("thread T on A { choose { assume x == 1 } or { await x == 2 } }", True),
        ("thread T on A { await x == 1 }\nthread U on A { assume y == 1 }", False),
        ("thread T on A { await x == 1 }\nthread U on A { x = 1 }", False),
        ("thread T on A { put B.z = x; poll B; poll B }", True),
        ("thread T on A { put B.z = x; poll B }", False),
        ("thread T on A { loop { put B.z = x; poll B }; poll B }", True),
        ("thread T on A { await x == 1 }\nthread U on A { while 1 == 1 { y = 1 } }", False),
        ("domain 0..1\nthread T on A { reg r = 1; r = r + 1; await x == 1 }", False),
    ],
)
def test_what_waits(body: str, expected: bool) -> None:
    answer = search_deadlocks(program(body), NO_LIMITS)
    assert answer is not None and (answer.run is not None) == expected


@pytest.mark.parametrize(
    "body",
    [
        "thread T on A { reg r; while r == 0 { r = x } }",
        "thread T on A { while 1 == 1 { get y = B.z; poll B } }",
        "thread T on A { loop { put B.z = x }; poll B }",
    ],
)
def test_spinning_and_counting_without_bound_are_left_to_the_machine(body: str) -> None:
    assert search_deadlocks(program(body), NO_LIMITS) is None


def test_a_cut_search_says_so() -> None:
    many = "\n".join(f"thread T{i} on A {{ x = {i}; y = {i}; await x == {i} }}" for i in range(4))
    answer = search_deadlocks(program(many), Limits(None, 3, None))
    assert answer is not None and (answer.run, answer.cut) == (None, "the limit of 3 states")


MUTANTS = {
    "a poll is never blocked": ("_enabled", lambda _frame, edge: deadlocks.substitute(edge.guard, {})),
    "nobody spins": ("quiet_cycles", lambda _thread: frozenset()),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, wrong = MUTANTS[name]
    monkeypatch.setattr(deadlocks, place, wrong)
    texts = [
        "thread T on A { put B.z = x; poll B; poll B }",
        "thread T on A { reg r; while r == 0 { r = x } }",
    ]

    def right(body: str) -> bool:
        answer = search_deadlocks(program(body), NO_LIMITS)
        return answer is None or (answer.run is not None) == hangs(program(body))

    assert not all(map(right, texts))
