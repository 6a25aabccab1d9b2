"""Which faults of a program runs under sequential consistency meet, as far as a short search sees them."""

from __future__ import annotations

from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.machine import Move, State


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
