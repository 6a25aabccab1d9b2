"""Runs in which requests are numbered: the machines of RDMA make the same moves in the same order, with and without."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model, rdma
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.run_history import numbered_run, request_of
from tests.support.random_deployed import FAMILIES, random_deployed
from tests.support.random_programs import SMALL, random_program

LONGEST = 40


def cases(seeds: range) -> Iterator[tuple[Program, Model]]:
    for seed in seeds:
        text = random_program(Random(seed), SMALL, loops=seed % 2 == 0)
        yield load_program(text, "p.rdma"), rdma(seed % 3 == 0)
        for family in FAMILIES:
            yield from random_deployed(family, [seed])


def plain(state: DeployedState) -> DeployedState:
    """Return the state without numbers."""
    threads = tuple(
        thread._replace(
            posted=0,
            buffer=tuple(entry._replace(number=0) for entry in thread.buffer),
            queues=tuple(tuple(posted._replace(number=0) for posted in queue) for queue in thread.queues),
        )
        for thread in state.threads
    )
    return state._replace(threads=threads)


def check(program: Program, model: Model, rng: Random) -> int:
    """Check a random run; return how many moves are about a request."""
    machine = machine_of(program, model)
    run: list[Move] = [rng.choice(machine.initial())]
    while (moves := machine.successors(run[-1].state)) and len(run) < LONGEST:
        run.append(rng.choice(moves))
    numbered, found = numbered_run(machine, run)
    general = DeployedMachine(program, model)
    posted: dict[tuple[int, int], Move] = {}
    told = 0
    for before, move, same in zip([found[0], *found], found, run, strict=False):
        assert move.action._replace(act=None, at=None) == same.action._replace(act=None, at=None), program.source
        assert move.state.memory == same.state.memory and move.faults == same.faults
        if isinstance(machine, DeployedMachine):
            assert plain(move.state) == same.state
        causes = [(m.action, plain(m.state)) for m in numbered.successors(move.state)]
        assert causes == [(m.action, m.state) for m in general.successors(plain(move.state))]
        number = request_of(numbered, before.state, move)
        if number is not None and move.action.verb is Verb.ISSUE:
            posted[move.action.thread, number] = move
        elif number is not None:
            told += 1
            assert move.action.verb is Verb.POLL or posted[move.action.thread, number].action.step == move.action.step
    return told


@pytest.mark.ci
def test_a_numbered_run_is_the_same_run() -> None:
    assert sum(check(program, model, Random(n)) for n, (program, model) in enumerate(cases(range(8)))) > 100


@pytest.mark.ci
def test_more_numbered_runs() -> None:
    assert sum(check(program, model, Random(n)) for n, (program, model) in enumerate(cases(range(8, 80)))) > 1000
