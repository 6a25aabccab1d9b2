"""Hangs three times: from the whole SC graph by the definition, by the reduced search of the SC machine, and from all moves
of the RDMA machine; robust programs hang under both models or neither. And every part of the rule is needed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from rdma_robust.analyses.safety.alone import never_waits_alone
from rdma_robust.analyses.safety.goals import HangMet
from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines import resting, threadcode, waiting_points
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.resting import RestKind
from rdma_robust.semantics.machines.sc import ScMachine
from tests.support.naive_hangs import Signature, TooLarge, rdma_hangs, sc_hangs
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.shares import share

SC_STATES = 1000
RDMA_STATES = 1500

REMOTE_SPIN = "    get {0} = {1}\n    poll {2}\n    while {0} != {3} {{\n      get {0} = {1}\n      poll {2}\n    }}"


def waiting_program(rng: Random, *, loops: bool) -> str:
    """A random program with waits of all kinds: `await` and `assume`, endless loops, re-reading over the network."""
    text = random_program(rng, rng.choice([TINY, TINY, SMALL]), loops=loops)
    lines = []
    for line in text.splitlines():
        if "assume" in line and rng.random() < 0.85:
            line = line.replace("assume", "await")
        read = re.fullmatch(r" *r\d = ([x-z])", line)
        if read and rng.random() < 0.4:
            line = f"  await {read[1]} == {rng.randint(0, 1)}"
        if loops and re.fullmatch(r" *loop \{", line) and rng.random() < 0.4:
            line = line.replace("loop", "while 1 == 1")
        lines.append(line)
        spin = re.fullmatch(r" *get (\w+) = (\w)\.(\w+)", line)
        if loops and spin and rng.random() < 0.3:
            lines.append(REMOTE_SPIN.format(spin[1], f"{spin[2]}.{spin[3]}", spin[2], rng.randint(0, 1)))
        if line.strip().startswith("poll") and rng.random() < 0.35:
            lines.append(line)
    return "\n".join(lines) + "\n"


def reduced_hangs(machine: Any, most: int) -> set[Signature]:
    """The hangs among the states of the reduced graph of a machine. Raises TooLarge."""
    met = HangMet(machine)
    seen = {move.state for move in machine.initial()}
    todo = list(seen)
    found = set()
    while todo:
        state = todo.pop()
        if hanging := met.hanging(state):
            found.add((state.memory, tuple((each.thread, each.rest.value) for each in hanging)))
        for move in machine.reduced(state):
            if move.state not in seen:
                if len(seen) >= most:
                    raise TooLarge
                seen.add(move.state)
                todo.append(move.state)
    assert not met.large
    return found


def compare(program: Program, ordered: bool, counts: Counter[str]) -> None:
    try:
        truth = sc_hangs(program, SC_STATES)
    except TooLarge:
        return
    counts["sc"] += 1
    counts["hangs"] += bool(truth)
    counts["spins"] += any(rest == "spin" for _, hanging in truth for _, rest in hanging)
    assert reduced_hangs(ScMachine(program), SC_STATES) == truth
    blocked = blocking(program)
    assert bool(reduced_hangs(ScMachine(blocked), SC_STATES)) == bool(truth)
    assert bool(truth) <= waiting_points.may_hang(program)
    hardware = rdma(ordered)
    try:
        under_rdma = rdma_hangs(program, RDMA_STATES, hardware)
    except TooLarge:
        return
    counts["rdma"] += 1
    assert truth <= under_rdma
    assert reduced_hangs(RdmaMachine(program, hardware), RDMA_STATES) == under_rdma
    robust = decide(blocked, CheckOptions(hardware=hardware)).verdict is Verdict.ROBUST
    if robust:
        counts["robust"] += 1
        assert under_rdma == truth
    counts["rdma only"] += bool(under_rdma) and not truth
    for model, hangs in (("sc", truth), ("rdma", under_rdma)):
        found = find_hang(program, model, Limits(states=RDMA_STATES), hardware)
        assert found.answer.answer is (Answer.REACHABLE if hangs else Answer.UNREACHABLE), found
        assert (found.hang is not None) == bool(hangs)


@pytest.mark.ci
@pytest.mark.parametrize("loops", share([True, False], 2))
def test_hangs_are_found_by_all_ways(loops: bool) -> None:
    search(range(40), loops, least=5)


@pytest.mark.long
@pytest.mark.parametrize("loops", [False, True])
def test_hangs_are_found_by_all_ways_in_many_programs(loops: bool) -> None:
    search(range(1000, 4000), loops, least=500)


def search(seeds: range, loops: bool, least: int) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(seed)
        text = waiting_program(rng, loops=loops)
        try:
            compare(load_program(text, "x.rdma"), rng.random() < 0.3, counts)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}:\n{text}") from wrong
    assert counts["hangs"] >= least, counts
    assert counts["rdma"] - counts["hangs"] >= least // 2, counts
    assert counts["robust"] >= least, counts
    print(counts)


NODES = "node A { x }\nnode B { y, w }\n"


def program_of(*threads: str, head: str = "") -> Program:
    code = "".join(
        f"thread T{i} on {place} {{ reg r\n {body}\n}}\n"
        for i, (place, body) in enumerate(zip("BABAB", threads, strict=False))
    )
    return load_program(head + NODES + code, "x.rdma")


NAMED = {
    "assume": program_of("assume y == 1"),
    "fault": program_of("r = 9 / w", head="domain 0..9\n"),
    "idle": program_of("while 1 == 1 { r = y }"),
    "idle and stuck": program_of("while 1 == 1 { r = y }", "await x == 1"),
    "inner loop": program_of("while 1 == 1 { r = y\n while r == 0 { r = y }\n y = 0\n }"),
    "poll": program_of("put A.x = 1\n poll A\n poll A"),
    "polled": program_of("put A.x = 1\n poll A"),
    "put again": program_of("while y != 1 { put A.x = y\n poll A }"),
    "get again": program_of("get w = A.x\n poll A\n while w != 1 { get w = A.x\n poll A }"),
    "swap": program_of("r = cas(y, 1, 2)\n while r != 1 { r = cas(y, 1, 2) }"),
    "swaps": program_of("r = cas(y, 0, 0)\n while r != 1 { r = cas(y, 0, 0) }"),
    "rests later": program_of("r = y\n r = y\n await r == 1"),
    "assume or await": program_of("choose { assume y == 1 } or { await w == 1 }"),
    "aside beside": program_of("assume y == 1", "await x == 1"),
    "fault beside": program_of("r = 9 / w", "await x == 1", head="domain 0..9\n"),
    "loop without effect": program_of("while r == 0 { }"),
    "writes what is there": program_of("while y != 1 { w = 0 }"),
    "idle beside": program_of("while 1 == 1 { r = w\n r = w }", "x = 0\n await x == 1"),
    "a late message": load_program(
        "node A { v = 1 }\nnode B { data, flag }\nthread S on A { put B.data = v\n v = 2\n put B.flag = 1 }\n"
        "thread R on B { await flag == 1\n await data == 1 }\n",
        "x.rdma",
    ),
    "in flight": program_of("put A.x = 1", "await x == 1"),
    "changes later": program_of("r = y\n if r == 0 { y = 1 }", "put B.w = 1\n put B.y = 0\n await x == 1"),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_programs(name: str) -> None:
    compare(NAMED[name], False, counts := Counter())
    assert counts["sc"] == 1


_STANDING, _MOVING, _MOVES = resting._Local._standing, resting._Local._moving, resting._Local._moves


def _standing_as(old: RestKind, new: RestKind) -> Any:
    def standing(self: Any, place: Any) -> Any:
        rest, steps = _STANDING(self, place)
        return (new if rest is old else rest), steps

    return standing


MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "assume-waits": (resting._Local, "_standing", _standing_as(RestKind.ASIDE, RestKind.BLOCKED)),
    "faults-wait": (resting._Local, "_standing", _standing_as(RestKind.FAULT, RestKind.BLOCKED)),
    "blocked-is-ended": (resting._Local, "_standing", _standing_as(RestKind.BLOCKED, RestKind.ENDED)),
    "ended-waits": (resting._Local, "_standing", _standing_as(RestKind.ENDED, RestKind.BLOCKED)),
    "idle-spins": (resting._Local, "_moving", lambda _self, _points, steps: (RestKind.SPIN, steps)),
    "spin-is-idle": (resting._Local, "_moving", lambda _self, _points, steps: (RestKind.IDLE, steps)),
    "idle-is-over": (resting, "_OVER", frozenset({RestKind.FAULT, RestKind.ASIDE, RestKind.IDLE})),
    "nothing-is-over": (resting, "_OVER", frozenset()),
    "every-loop-is-endless": (resting._Local, "_endless", property(lambda self: [set(self.thread.points)])),
    "heads-do-not-matter": (
        resting._Local,
        "_endless",
        property(
            lambda self: [set(self.thread.points)] if self.thread.exit not in {to for _, to, _ in self.thread.edges} else []
        ),
    ),
    "poll-needs-nothing": (resting, "_added", lambda unpolled, _qp, _number: tuple(9 for _ in unpolled)),
    "polls-take-nothing": (
        resting,
        "_added",
        lambda unpolled, qp, n: (*unpolled[:qp], unpolled[qp] + max(n, 0), *unpolled[qp + 1 :]),
    ),
    "under-way-is-at-rest": (RdmaMachine, "is_drained", lambda _self, _state: True),
    "cycles-come-first": (threadcode, "components", lambda following: [[point] for point in following]),
    "next-steps-are-enough": (resting._Local, "rests", lambda self, place, _memory: [_STANDING(self, place)]),
}


@pytest.mark.ci
@pytest.mark.parametrize("name", MUTANTS)
def test_every_part_of_the_rule_is_needed(name: str) -> None:
    where, what, instead = MUTANTS[name]
    with patch.object(where, what, instead):
        # Copies: of a program that was compiled before the old code would be kept.
        assert any(_differs(replace(program)) for program in NAMED.values())


def _differs(program: Program) -> bool:
    try:
        compare(program, False, Counter())
    except (AssertionError, TooLarge):
        return True
    return False


@pytest.mark.ci
def test_what_a_thread_can_do_alone_rules_hangs_out_only_where_there_are_none() -> None:
    ruled_out = hanging = 0
    for seed in range(120):
        rng = Random(seed)
        text = re.sub("await|assume", "assert", waiting_program(rng, loops=seed % 2 == 0))
        program = load_program(text, "x.rdma")
        try:
            truth = sc_hangs(program, SC_STATES) | rdma_hangs(program, RDMA_STATES)
        except TooLarge:
            continue
        never = never_waits_alone(blocking(program), Limits())
        assert not (never and truth), f"seed {seed}:\n{text}"
        ruled_out += never and waiting_points.may_hang(blocking(program))
        hanging += bool(truth)
    assert ruled_out > 10
    assert hanging > 10


@pytest.mark.parametrize(
    ("body", "never"),
    [
        ("loop { put A.x = 1\n poll A\n }", True),
        ("put A.x = 1\n loop { put A.x = 1\n poll A\n }\n poll A", True),
        ("put A.x = 1\n loop { put A.x = 1 }\n loop { poll A }", True),
        ("loop { put A.x = 1 }\n poll A", False),
        ("put A.x = 1\n loop { put A.x = 1 }\n poll A\n poll A", False),
        ("r = y\n if r == 0 { put A.x = 1 }\n poll A", True),
        ("r = y\n if r == 0 { put A.x = 1 }\n w = 1\n if r == 0 { poll A }", True),
        ("y = 1\n r = y\n if r == 0 { put A.x = 1 }\n poll A", False),
        ("await y == 0", True),
        ("await y == 1", False),
        ("loop { r = y }", True),
        ("while r == 0 { r = y }", False),
        ("loop { while r == 0 { r = y\n }\n }", False),
    ],
)
def test_a_thread_alone(body: str, never: bool) -> None:
    assert never_waits_alone(blocking(program_of(body)), Limits()) is never
