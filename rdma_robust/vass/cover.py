"""Coverability of Petri nets: from a net to a run, an invariant, or the limit that was reached.

A net is sliced first; an engine then decides the core, and what it finds is translated to the net. Runs are replayed on
the net here; invariants are re-checked by `verify-certificate`, which shares no code with the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rdma_robust.errors import UsageError
from rdma_robust.vass.net import CoverResult, Net, UpwardInvariant
from rdma_robust.vass.net_backward import Backward
from rdma_robust.vass.net_engine import (
    KERNELS,
    Covering,
    DownwardProof,
    Finding,
    Kernel,
    LinearProof,
    Search,
    Steps,
    UpwardProof,
)
from rdma_robust.vass.net_forward import Forward
from rdma_robust.vass.net_kernel import Marking
from rdma_robust.vass.net_slice import OMEGA, Core, RunTooLongError, Slice, slice_net
from rdma_robust.vass.search import Limits, Progress
from rdma_robust.vass.state_equation import Cuts, StateEquation

NO_LIMITS = Limits()
_LOOK = 20_000
"""Elementary operations between two looks at the clock and the memory: some 20 ms."""
_HEAD_START = 200_000
"""Elementary operations that the other sides of the portfolio do before the Karp-Miller search begins: some 0.2 s."""


class RootEquation:
    """The state equation alone: tries to separate every target from the initial marking."""

    def __init__(self, core: Core, cuts: Cuts, equation: StateEquation) -> None:
        self._core = core
        self._cuts = cuts
        self._equation = equation
        self.frontier = len(core.targets)

    @property
    def stored(self) -> int:
        return len(self._cuts.known)

    def steps(self) -> Steps:
        used = []
        for target in self._core.targets:
            work = self._equation.work
            cut = self._cuts.violated(target)
            if cut < 0:
                found = self._equation.separate(target)
                if found is None:
                    return None
                cut = len(self._cuts.known)
                self._cuts.add(found)
            used.append(self._cuts.known[cut])
            self.frontier -= 1
            yield 1 + self._equation.work - work
        if any(cut.traps for cut in used):
            return UpwardProof((), tuple(dict.fromkeys(used)), tuple(self._equation.traps))
        return LinearProof(tuple(cut.weights for cut in used))


class Portfolio:
    """Three sides that take turns: the state equation and then the backward search; directed forward search, which uses
    the cones of the backward search; and Karp-Miller search, which starts last.
    """

    def __init__(self, core: Core, kernel: Kernel, limits: Limits) -> None:
        cuts = Cuts(len(core.initial))
        equation = StateEquation(core, limits.deadline)
        self._expected = equation.expected
        self._root = RootEquation(core, cuts, equation)
        self._backward = Backward(core, kernel, equation, cuts)
        self._forward = Forward(core, kernel, "plan", True, self._meet)
        self._closure = Forward(core, kernel, "largest", True)

    @property
    def stored(self) -> int:
        return self._backward.stored + self._forward.stored + self._closure.stored

    @property
    def frontier(self) -> int:
        return self._backward.frontier + self._forward.frontier + self._closure.frontier

    def steps(self) -> Steps:
        """The side that has done less works next; the forward side starts, with what the first linear program may take."""
        sides = (self._safe_side(), self._forward.steps(), self._closure.steps())
        spent = [self._expected, 0, 4 * self._expected + _HEAD_START]
        while True:
            side = spent.index(min(spent))
            try:
                work = next(sides[side])
            except StopIteration as end:
                finding: Finding | None = end.value
                return finding
            spent[side] += work
            yield work

    def _safe_side(self) -> Steps:
        proof = yield from self._root.steps()
        return proof or (yield from self._backward.steps())

    def _meet(self, marking: Marking) -> tuple[Marking, tuple[int, ...], int] | None:
        number = self._backward.basis.below(marking)
        return None if number < 0 else (self._backward.cone(number), *self._backward.chain(number))


def _backward(core: Core, kernel: Kernel, limits: Limits) -> Search:
    return Backward(core, kernel, StateEquation(core, limits.deadline), Cuts(len(core.initial)))


def _state_equation(core: Core, _: Kernel, limits: Limits) -> Search:
    return RootEquation(core, Cuts(len(core.initial)), StateEquation(core, limits.deadline))


COVER_ENGINES: dict[str, Callable[[Core, Kernel, Limits], Search]] = {
    "auto": Portfolio,
    "bfs": lambda core, kernel, _: Forward(core, kernel, "oldest", False),
    "karp-miller": lambda core, kernel, _: Forward(core, kernel, "largest", True),
    "forward": lambda core, kernel, _: Forward(core, kernel, "plan", True),
    "backward": _backward,
    "state-equation": _state_equation,
}
"""Every engine decides every net if it is given the time, except that `bfs` does not end on nets with infinitely many
reachable markings, and that `state-equation` only ever answers SAFE."""


def cover(
    net: Net,
    limits: Limits = NO_LIMITS,
    engine: str = "auto",
    progress: Progress = lambda _stored, _frontier: None,
    kernels: Sequence[Kernel] = KERNELS,
) -> CoverResult:
    """Decide whether some run of `net` from an initial marking covers one of its targets.

    The result has a run that has been replayed on `net`, or an invariant that excludes every target, or neither with the
    limit in `cut`: time, states (stored markings and cones), memory, run (one exists, too long to write), or incomplete
    (the engine ended without an answer).
    The `kernels` are tried in turn until one can hold the numbers of the search.
    Raises UsageError for an unknown engine, InternalError if a run does not replay.
    """
    if engine not in COVER_ENGINES:
        raise UsageError(f"unknown engine {engine!r}; there are {', '.join(COVER_ENGINES)}")
    part = slice_net(net)
    if not part.core.targets:
        return CoverResult(engine, invariant=part.linear(()))
    for kernel in kernels[:-1]:
        try:
            return _search(part, kernel, limits, engine, progress)
        except OverflowError:
            continue
    return _search(part, kernels[-1], limits, engine, progress)


def _search(part: Slice, kernel: Kernel, limits: Limits, engine: str, progress: Progress) -> CoverResult:
    search = COVER_ENGINES[engine](part.core, kernel, limits)
    try:
        finding, cut = _drive(search, limits, progress)
        return _result(part, engine, finding, cut, search.stored)
    except RunTooLongError:
        return CoverResult(engine, cut="run", stored=search.stored)


def _drive(search: Search, limits: Limits, progress: Progress) -> tuple[Finding | None, str]:
    """Let a search work until it ends or a limit is reached; return what it found and the limit."""
    steps = search.steps()
    spent = _LOOK
    while True:
        if spent >= _LOOK:
            spent = 0
            progress(search.stored, search.frontier)
            if cut := limits.exceeded():
                return None, cut
        if limits.states is not None and search.stored > limits.states:
            return None, "states"
        try:
            spent += next(steps)
        except StopIteration as end:
            cut = limits.exceeded() or "incomplete" if end.value is None else ""
            return end.value, cut


def _result(part: Slice, engine: str, finding: Finding | None, cut: str, stored: int) -> CoverResult:
    match finding:
        case None:
            return CoverResult(engine, cut=cut, stored=stored)
        case Covering(transitions, target):
            return CoverResult(engine, run=part.run(transitions, target), stored=stored)
        case LinearProof(weights):
            return CoverResult(engine, invariant=part.linear(weights), stored=stored)
        case UpwardProof():
            return CoverResult(engine, invariant=_upward(part, finding), stored=stored)
        case DownwardProof(limits):
            return CoverResult(engine, invariant=part.downward(_dense(limits, len(part.places))), stored=stored)


def _upward(part: Slice, proof: UpwardProof) -> UpwardInvariant:
    """Translate a proof, with those traps only that the inequalities rest on."""
    needed = sorted({trap for cut in proof.cuts for trap, _ in cut.traps})
    number = {trap: i for i, trap in enumerate(needed)}
    return part.upward(
        proof.basis,
        [cut.weights for cut in proof.cuts],
        [cut.bound for cut in proof.cuts],
        [proof.traps[trap] for trap in needed],
        [tuple((number[trap], times) for trap, times in cut.traps) for cut in proof.cuts],
    )


def _dense(limits: tuple[Marking, ...], places: int) -> Iterator[list[int | None]]:
    for limit in limits:
        row: list[int | None] = [0] * places
        for p, value in limit:
            row[p] = None if value == OMEGA else int(value)
        yield row
