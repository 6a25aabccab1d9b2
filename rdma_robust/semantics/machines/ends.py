"""How executions end under sequential consistency: whether one of them hangs, or all of them, and which faults they meet."""

from __future__ import annotations

from typing import Any

from rdma_robust.digraph import components
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.semantics.hang import Hang
from rdma_robust.semantics.machines.chosen import AnyScMachine, sc_machine_of
from rdma_robust.semantics.machines.hang_words import hang_at
from rdma_robust.semantics.machines.machine import Move, State
from rdma_robust.semantics.machines.resting import LargeLoopError, Resting, RestTest, is_still, thread_places_of


def first_hang(program: Program, limits: Limits) -> Hang | None:
    """Return the first hang, breadth first, that a search within `limits` comes to; None says nothing."""
    machine = sc_machine_of(program)
    test = RestTest(program)
    before: dict[State, tuple[State | None, Move]] = {}
    found: list[tuple[State, tuple[Resting, ...]]] = []

    def arrive(source: State | None, move: Move, layer: list[State]) -> None:
        if move.state not in before:
            before[move.state] = (source, move)
            layer.append(move.state)

    def expand(state: State, layer: list[State]) -> None:
        if hanging := _hanging(test, machine, state):
            found.append((state, hanging))
        else:
            for move in machine.reduced(state):
                arrive(state, move, layer)

    def begin(move: Move, layer: list[State]) -> None:
        arrive(None, move, layer)

    try:
        by_layers(machine.initial(), begin, expand, before.__len__, limits, enough=lambda: bool(found))
    except LargeLoopError:
        return None
    if not found:
        return None
    run: list[Move] = []
    at: State | None = found[0][0]
    while at is not None:
        at, move = before[at]
        run.append(move)
    return hang_at(program, run[::-1], found[0][1])


def _hanging(test: RestTest, machine: AnyScMachine, state: Any) -> tuple[Resting, ...]:
    rest = test.at_rest(thread_places_of(machine, state), state.memory) if is_still(machine, state) else None
    return () if rest is None else rest.hanging


def every_execution_hangs(program: Program, limits: Limits) -> tuple[Resting, ...]:
    """Return the ways in which threads hang at the end of executions, each once, if every execution ends in a hang.

    Nothing if one does not, if one goes on for ever, or if that was not seen within `limits`.
    """
    machine = sc_machine_of(program)
    test = RestTest(program)
    number: dict[State, int] = {}
    following: dict[int, list[int]] = {}
    hangs: dict[int, tuple[Resting, ...]] = {}

    def arrive(state: State, layer: list[State]) -> int:
        if state not in number:
            number[state] = len(number)
            layer.append(state)
        return number[state]

    def begin(move: Move, layer: list[State]) -> None:
        arrive(move.state, layer)

    def expand(state: State, layer: list[State]) -> None:
        here = number[state]
        if hanging := _hanging(test, machine, state):
            hangs[here] = hanging
            following[here] = []
        else:
            following[here] = [arrive(move.state, layer) for move in machine.reduced(state)]

    try:
        cut, _ = by_layers(machine.initial(), begin, expand, number.__len__, limits)
    except LargeLoopError:
        return ()
    endless = any(len(c) > 1 or c[0] in following.get(c[0], ()) for c in components(following))
    if cut or endless or any(not after and at not in hangs for at, after in following.items()):
        return ()
    return tuple(dict.fromkeys(each for at in sorted(hangs) for each in hangs[at]))


def faults_met(program: Program, limits: Limits) -> frozenset[Fault]:
    """Return the faults that runs met in a search within `limits`, breadth first; of others this says nothing.

    A run under SC is one of every memory model here, so that what is met is met on the hardware too.
    """
    machine = sc_machine_of(program)
    met: set[Fault] = set()
    stored: set[State] = set()

    def arrive(move: Move, layer: list[State]) -> None:
        met.update(move.faults)
        if move.state not in stored:
            stored.add(move.state)
            layer.append(move.state)

    def expand(state: State, layer: list[State]) -> None:
        for move in machine.reduced(state):
            arrive(move, layer)

    by_layers(machine.initial(), arrive, expand, stored.__len__, limits)
    return frozenset(met)
