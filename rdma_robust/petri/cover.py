"""Coverability of Petri nets: from a net to a run, an invariant, or the limit that was reached.

A net is sliced first; an engine then decides the core, and what it finds is translated to the net. Where cones are known
that are never entered, what is left of the net is decided in a further stage. Runs are replayed on the net here, and written
down where their numbers have not too many digits; invariants are re-checked by `verify-certificate`, which shares no code
with the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.errors import InternalError, UsageError
from rdma_robust.limits import NO_LIMITS, Limits, Progress
from rdma_robust.petri.engine import (
    KERNELS,
    Covering,
    DownwardProof,
    EngineSearch,
    Finding,
    ForbiddenCones,
    FullEnumeration,
    Kernel,
    LinearProof,
    UpwardProof,
)
from rdma_robust.petri.exclusion import Backward, ExclusivePairs
from rdma_robust.petri.forward import Forward, reachable_set
from rdma_robust.petri.kernel.loops import Marking
from rdma_robust.petri.net import (
    CoverResult,
    DownwardInvariant,
    EnumeratedInvariant,
    Firing,
    Invariant,
    LinearInvariant,
    Net,
    NetRun,
    RepeatedFirings,
    StagedInvariant,
    UpwardInvariant,
    Vector,
)
from rdma_robust.petri.portfolio import Portfolio, RootEquation, Side, Turns
from rdma_robust.petri.race import race
from rdma_robust.petri.slice import OMEGA, Core, Slice, replay_firings, slice_net
from rdma_robust.petri.state_equation import Cuts, StateEquation
from rdma_robust.processes import can_fork

DIGITS: Final = 4_000
"""What a number of a run or an invariant may have; Python itself writes and reads 4,300."""
_LARGEST: Final[int] = 10**DIGITS


def writable(net: Net, result: CoverResult) -> bool:
    """Return whether no number of an answer, nor of a marking that its run passes, has more than :data:`DIGITS` digits."""
    if result.run is not None:
        return _longest(net, result.run) < _LARGEST
    if result.invariant is None or isinstance(result.invariant, EnumeratedInvariant):
        return True
    return all(-_LARGEST < number < _LARGEST for number in _numbers(result.invariant))


def _longest(net: Net, run: NetRun) -> int:
    """A bound of the tokens on any place during the run, and of its length."""
    change = max((abs(c) for t in net.transitions for _, c in t.delta), default=0)
    return max(run.start, default=0) + run.length * max(1, change)


def _numbers(invariant: Invariant) -> Iterator[int]:
    match invariant:
        case LinearInvariant(_, weights):
            return _values(weights)
        case DownwardInvariant(limits):
            return (value for limit in limits for value in limit if value is not None)
        case UpwardInvariant():
            vectors = (*invariant.basis, *invariant.weights, *invariant.shares)
            return chain(_values(vectors), invariant.bounds)
        case StagedInvariant(never, _, rest):
            return chain(_values(never), _numbers(rest))


def _values(vectors: Iterable[Vector]) -> Iterator[int]:
    return (value for vector in vectors for _, value in vector)


@dataclass(frozen=True, slots=True)
class NetRemainder:
    """`net` without what is above one of the cones `never`; `transitions` and `targets` have the indices before that."""

    net: Net
    never: tuple[Vector, ...]
    transitions: tuple[int, ...]
    targets: tuple[int, ...]


def rest_of(part: Slice, basis: Iterable[Vector]) -> NetRemainder:
    """Return what is left of a sliced net if its core never enters the cones of `basis`."""
    net = part.net
    never = tuple(part.vector(cone) for cone in basis)
    above = _above(never)
    transitions = tuple(i for i, t in enumerate(net.transitions) if not above(t.guard))
    targets = tuple(i for i, target in enumerate(net.targets) if not above(target))
    left = replace(
        net,
        transitions=tuple(net.transitions[i] for i in transitions),
        targets=tuple(net.targets[i] for i in targets),
    )
    return NetRemainder(left, never, transitions, targets)


def _above(never: Sequence[Vector]) -> Callable[[Vector], bool]:
    """Return the test whether a cone is above one of those."""
    at = by_key((cone[0][0], cone) for cone in never)

    def above(cone: Vector) -> bool:
        values = dict(cone)
        return any(all(values.get(q, 0) >= k for q, k in small) for p, _ in cone for small in at.get(p, ()))

    return above


def whole_result(part: Slice, rest: NetRemainder, result: CoverResult) -> CoverResult:
    """Turn the answer for what is left into one for the net of `part`. Raises InternalError if a run does not replay."""
    if result.run is not None:
        firings = tuple(_firing(firing, rest.transitions) for firing in result.run.transitions)
        run = NetRun(result.run.start, firings, rest.targets[result.run.target])
        replay_firings(part.net, run)
        return replace(result, run=run)
    match result.invariant:
        case None | EnumeratedInvariant():
            return result
        case StagedInvariant():
            raise InternalError("a proof of what is left of a net has stages itself")
        case invariant:
            return replace(result, invariant=StagedInvariant(rest.never, tuple(sorted(part.marked)), invariant))


def _firing(firing: Firing, transitions: Sequence[int]) -> Firing:
    if isinstance(firing, RepeatedFirings):
        return RepeatedFirings(firing.times, tuple((transitions[t], times) for t, times in firing.body))
    return transitions[firing]


_LOOK = 20_000
"""Elementary operations between two looks at the clock and the memory: some 20 ms."""
SLICE = "slice"
"""Named as the engine where slicing has answered: no target is left that some run could cover."""
_TOGETHER = 400_000
"""Elementary operations after which the two halves of the portfolio go on in processes of their own: some 0.4 s."""


def _backward(core: Core, kernel: Kernel, limits: Limits) -> EngineSearch:
    return Backward(core, kernel, StateEquation(core, limits.deadline), Cuts(len(core.initial)))


def _state_equation(core: Core, _: Kernel, limits: Limits) -> EngineSearch:
    cuts, equation = Cuts(len(core.initial)), StateEquation(core, limits.deadline)
    plain, traps = (RootEquation(core, cuts, equation, traps=traps) for traps in (False, True))
    return Turns((plain,), [Side("state-equation", search.steps(), spent) for spent, search in enumerate((plain, traps))])


COVER_ENGINES: dict[str, Callable[[Core, Kernel, Limits], EngineSearch]] = {
    "auto": Portfolio,
    "bfs": lambda core, kernel, _: Forward(core, kernel, "oldest", False),
    "karp-miller": lambda core, kernel, _: reachable_set(core, kernel),
    "forward": lambda core, kernel, _: Forward(core, kernel, "plan", True),
    "backward": _backward,
    "state-equation": _state_equation,
    "pairs": lambda core, kernel, _: ExclusivePairs(core, kernel),
}
"""Every engine decides every net if it is given the time, except that `bfs` does not end on nets with infinitely many
reachable markings, and that `state-equation` and `pairs` only ever answer SAFE."""


@dataclass(frozen=True, slots=True)
class CoverTask:
    """How a net is to be decided: the engine's name, the kernels in the order in which they are tried, and the search."""

    engine: str
    kernels: Sequence[Kernel]
    search: Callable[[Core, Kernel, Limits], EngineSearch]


def cover(
    net: Net,
    limits: Limits = NO_LIMITS,
    engine: str = "auto",
    progress: Progress = lambda _stored, _frontier: None,
    *,
    kernels: Sequence[Kernel] = KERNELS,
    processes: int = 1,
) -> CoverResult:
    """Decide whether some run of `net` from an initial marking covers one of its targets.

    The result has the engine that answered (`slice` where no target was left to be decided, the one asked for where none
    did), and a run that has been replayed on `net`, or an invariant that excludes every target, or neither with the limit
    in `cut`: time, states (stored markings and cones), memory, incomplete (the engine ended without an answer), or
    digits (the answer has numbers that are too long to be written, of more than 4,000 digits).
    The `kernels` are tried in turn until one can hold the numbers of the search. With two `processes`, the engine `auto`
    goes on in two more, one for each half of the portfolio, if it has no answer soon; they share the limit of memory.
    Raises UsageError for an unknown engine, InternalError if a run does not replay.
    """
    if engine not in COVER_ENGINES:
        raise UsageError(f"unknown engine {engine!r}; there are {', '.join(COVER_ENGINES)}")
    question = CoverTask(engine, kernels, COVER_ENGINES[engine])
    result = _answer(slice_net(net), question, limits, progress, processes)
    return result if writable(net, result) else CoverResult(engine, cut="digits", stored=result.stored)


def _answer(part: Slice, question: CoverTask, limits: Limits, progress: Progress, processes: int) -> CoverResult:
    if not part.core.targets:
        return CoverResult(SLICE, invariant=part.linear(()))
    kernels = question.kernels
    for kernel in kernels[:-1]:
        try:
            return _search(part, kernel, question, limits, progress=progress, processes=processes)
        except OverflowError:
            continue
    return _search(part, kernels[-1], question, limits, progress=progress, processes=processes)


def _search(
    part: Slice, kernel: Kernel, question: CoverTask, limits: Limits, *, progress: Progress, processes: int
) -> CoverResult:

    def answer(search: EngineSearch, within: Limits, tell: Progress, most: int | None = None) -> CoverResult:
        finding, cut = _drive(search, within, tell, most)
        if isinstance(finding, ForbiddenCones):
            rest = rest_of(part, finding.basis)
            again = replace(question, search=partial(Portfolio, reduce=False))
            left = _answer(slice_net(rest.net), again, within, tell, 1 if most is None else processes)
            return whole_result(part, rest, replace(left, engine="pairs") if left.engine == SLICE else left)
        by = search.answered if isinstance(search, Turns) else ""
        return _result(part, by or question.engine, finding, cut, search.stored)

    search = question.search(part.core, kernel, limits)
    if processes < 2 or not isinstance(search, Portfolio) or not can_fork():
        return answer(search, limits, progress)
    first = answer(search, limits, progress, _TOGETHER)
    if first.cut != "later":
        return first
    halves = [partial(answer, half) for half in search.halves()]
    return race(halves, limits, progress)


def _drive(search: EngineSearch, limits: Limits, progress: Progress, most: int | None) -> tuple[Finding | None, str]:
    """Let a search work until it ends or a limit is reached; return what it found and the limit.

    The limit "later" is that of the elementary operations, `most`.
    """
    steps = search.steps()
    spent = _LOOK
    looks = -1
    while True:
        if spent >= _LOOK:
            looks += spent // _LOOK
            spent = 0
            if most is not None and looks * _LOOK >= most:
                return None, "later"
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
        case None | ForbiddenCones():
            return CoverResult(engine, cut=cut, stored=stored)
        case Covering(transitions, target):
            return CoverResult(engine, run=part.run(transitions, target), stored=stored)
        case LinearProof(weights):
            return CoverResult(engine, invariant=part.linear(weights), stored=stored)
        case UpwardProof():
            return CoverResult(engine, invariant=_upward(part, finding), stored=stored)
        case FullEnumeration(markings):
            return CoverResult(engine, invariant=EnumeratedInvariant(markings), stored=stored)
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
