"""How executions end under sequential consistency: whether all of them hang."""

from __future__ import annotations

from rdma_robust.digraph import components
from rdma_robust.language.flow.cfg import Program
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.resting import LargeLoopError, Resting, RestTest, places_of
from rdma_robust.semantics.machines.sc import ScMachine, ScState


def every_execution_hangs(program: Program, limits: Limits) -> tuple[Resting, ...]:
    """Return the ways in which threads hang at the end of executions, each once, if every execution ends in a hang.

    Nothing if one does not, if one goes on for ever, or if that was not seen within `limits`.
    """
    machine = ScMachine(program)
    test = RestTest(program)
    number: dict[ScState, int] = {}
    following: dict[int, list[int]] = {}
    hangs: dict[int, tuple[Resting, ...]] = {}

    def arrive(state: ScState, layer: list[ScState]) -> int:
        if state not in number:
            number[state] = len(number)
            layer.append(state)
        return number[state]

    first: list[ScState] = []
    for move in machine.initial():
        arrive(move.state, first)

    def expand(state: ScState, layer: list[ScState]) -> None:
        here = number[state]
        rest = test.at_rest(places_of(state), state.memory) if machine.is_drained(state) else None
        if rest is not None and rest.hanging:
            hangs[here] = rest.hanging
            following[here] = []
        else:
            following[here] = [arrive(move.state, layer) for move in machine.reduced(state)]

    try:
        cut, _ = by_layers(first, expand, number.__len__, limits)
    except LargeLoopError:
        return ()
    endless = any(len(c) > 1 or c[0] in following.get(c[0], ()) for c in components(following))
    if cut or endless or any(not after and at not in hangs for at, after in following.items()):
        return ()
    return tuple(dict.fromkeys(each for at in sorted(hangs) for each in hangs[at]))
