"""Every method agrees on automata, which do what no text can: guards on every operation, edges to anywhere."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust import Program, Verdict, check
from rdma_robust.build import ProgramBuilder
from rdma_robust.counters.search import explore
from rdma_robust.limits import Limits
from rdma_robust.robustness.plain import instrument_plain
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.state_space import explore as explore_machine

ACTIONS = (
    *("put {o}.y = x", "put {o}.x = 1", "get x = {o}.x", "get y = {o}.y", "poll {o}", "rfence {o}"),
    *("x = 1", "x = r", "y = 2", "r = x", "r = y", "r = cas(x, 0, 1)", "cas(y, r, 1)", "skip", "r = 1"),
    *("assume x == 1", "assert y != 1", "assume r != x"),
)
GUARDS = ("", "", "", "r == 0", "r == 1", "r != 2", "!r || r == 1")


def random_automata(rng: Random, *, loops: bool) -> Program:
    """Return two automata on two nodes; without `loops` edges lead onward only."""
    builder = ProgramBuilder("random")
    for node in "AB":
        builder.node(node, x=0, y=rng.randint(0, 1))
    for name, own, other in (("T", "A", "B"), ("U", "B", "A")):
        places = [f"p{k}" for k in range(rng.randint(3, 4))]
        automaton = builder.automaton(name, own, places[0], places[-1], r=0)
        for k in range(len(places) - 1):
            for target in {k + 1, rng.randint(k + 1, len(places) - 1), rng.randint(0 if loops else k + 1, len(places) - 1)}:
                action = rng.choice(ACTIONS).format(o=other)
                automaton.edge(places[k], places[target], action, when=rng.choice(GUARDS))
    return builder.program()


def agree(seed: int) -> Verdict:
    """Raise InternalError if the two instrumentations, or brute force, say different things; return the verdict."""
    program = random_automata(Random(seed), loops=seed % 3 == 0)
    outcome = check(program, self_check=True, max_states=4_000, ordered_reads=seed % 2 == 0)
    assert outcome.verdict is Verdict.UNKNOWN or seed % 3 == 0 or "brute force" in outcome.checked_by
    if seed % 3:
        # The faults that SC can meet, by the counter program and by the machine.
        found = explore(instrument_plain(program), Limits(states=20_000))
        faults = explore_machine(ScMachine(program), Limits(states=20_000)).faults
        assert (found.result.target >= 0) == bool(faults), seed
    return outcome.verdict


@pytest.mark.ci
def test_methods_agree_on_random_automata() -> None:
    verdicts = {agree(seed) for seed in range(25)}
    assert {Verdict.ROBUST, Verdict.NOT_ROBUST} <= verdicts


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_methods_agree_on_many_random_automata(part: int) -> None:
    for seed in range(1_000 + 300 * part, 1_300 + 300 * part):
        agree(seed)
