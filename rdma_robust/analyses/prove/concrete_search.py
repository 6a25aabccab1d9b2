"""A bounded search on the model's machine: it finds real runs, and where nothing had to be cut it decides.

It knows nothing of reductions. Source: docs/prove.md, "How it is found".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.prove.path_replay import constants_of, met_on
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.layers import by_layers
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.stepping import WHOLE, StepState, few


@dataclass(frozen=True, slots=True)
class Box:
    """The bounds of a search: values at most `values` beyond the program's constants, at most so many stores, like
    operations, or completions of one queue `under_way`."""

    values: int
    under_way: int


BOXES: Final = (Box(3, 1), Box(3, 2), Box(3, 3), Box(8, 8))
"""The searches, one after the other."""


@dataclass(frozen=True)
class Concrete:
    """The answer of a bounded search: a run for each claim that was shown to happen, by its number.

    `exhausted`: every state was seen, so that the other claims cannot happen. Else `cut` names the limit that ended the
    search, if one did. `states` are those of the largest search, `box` is the last that was searched to its end, if one was.
    """

    runs: Mapping[int, SafetyRun]
    exhausted: bool
    cut: str
    states: int
    box: Box | None


def concrete_search(
    program: Program,
    model: AnyModelName,
    claims: Sequence[SafetyClaim],
    limits: Limits = NO_LIMITS,
    progress: Progress = ignore,
    *,
    boxes: Sequence[Box] = BOXES,
    every: bool = False,
) -> Concrete:
    """Look on the machine of `model` for a run that shows what one of the `claims` is about, or with `every` for one each.

    Runs are the shortest within their box. The boxes are searched in turn until enough is found, nothing was left out, or a
    limit is reached.
    """
    runs: dict[int, SafetyRun] = {}
    done: Box | None = None
    most = 0
    for box in boxes:
        search = _Search(program, model, [c for c in claims if c.number not in runs], box, every)
        cut = search.run(limits, progress)
        runs |= search.runs
        most = max(most, len(search.before))
        exhausted = not cut and not search.left_out and not search.enough()
        if cut or exhausted or search.enough():
            return Concrete(runs, exhausted, cut, most, done)
        done = box
    return Concrete(runs, False, "", most, done)


class _Search:
    """One breadth-first search. `before` has how every state was come to; `left_out` if the box has ruled out a move."""

    def __init__(self, program: Program, model: AnyModelName, claims: Sequence[SafetyClaim], box: Box, every: bool) -> None:
        self.constants = sorted(set(constants_of(program, claims)))
        self.most = box.values + max(map(abs, self.constants), default=0)
        self.box = box
        self.every = every
        self.machine = stepwise_machine(program, model, self.choose)
        self.model: AnyModelName = model
        self.left = {c.number: met_on(self.machine, c) for c in claims}
        self.faulty = {c.number for c in claims if c.fault is not None}
        self.before: dict[StepState, tuple[StepState | None, Move]] = {}
        self.runs: dict[int, SafetyRun] = {}
        self.left_out = False

    def choose(self, low: int | None, high: int | None) -> Iterable[int]:
        """Return the values for a `nondet`: all of a small range, and those next to constants."""
        if low is not None and high is not None and high - low < WHOLE:
            return range(low, high + 1)
        self.left_out = True
        near = (c + d for c in self.constants for d in (-1, 0, 1))
        return sorted({*few(low, high), *near}, key=lambda value: (abs(value), value))

    def enough(self) -> bool:
        """Return whether a run was found for one claim, or with `every` for all."""
        return not self.left if self.every else bool(self.runs)

    def run(self, limits: Limits, progress: Progress) -> str:
        """Search, and return the name of the limit that ended it, or ''."""

        def begin(move: Move, layer: list[StepState]) -> None:
            self.arrive(None, move, layer)

        def expand(state: StepState, following: list[StepState]) -> None:
            for move in self.machine.successors(state):
                self.arrive(state, move, following)

        starts, stored = self.machine.initial(), self.before.__len__
        cut, _ = by_layers(starts, begin, expand, stored, limits, enough=self.enough, progress=progress)
        return cut

    def arrive(self, source: StepState | None, move: Move, layer: list[StepState]) -> None:
        state: StepState = move.state
        if not self.fits(state):
            self.left_out = True
            return
        new = state not in self.before
        if new:
            self.before[state] = (source, move)
            layer.append(state)
        shown = [n for n, met in self.left.items() if (move.faults if n in self.faulty else new) and met(move)]
        for number in shown:
            del self.left[number]
            self.runs[number] = SafetyRun(self.model, (*self.way_to(source), move))

    def fits(self, state: StepState) -> bool:
        if self.machine.under_way(state) > self.box.under_way:
            return False
        most = self.most
        return all(-most <= value <= most for value in state.memory) and all(
            -most <= value <= most for thread in state.threads for value in thread.registers
        )

    def way_to(self, state: StepState | None) -> tuple[Move, ...]:
        moves = []
        while state is not None:
            state, move = self.before[state]
            moves.append(move)
        return tuple(reversed(moves))
