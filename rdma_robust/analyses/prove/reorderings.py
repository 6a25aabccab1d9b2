"""The reordering of a run that a stronger model does not have: the smallest difference between two models on a program.

A run of a weaker model is a list of accesses, each with its place in its thread's program order and the moment at which
it takes effect. A pair of accesses of one thread that take effect the other way round is a reordering. Sequential
consistency has none, tso only that of a store and a later load of another word, pso also that of two stores to
different words. A pair that lies on a cycle with the conflicts of the run is needed for it (Shasha and Snir: without
such a cycle there is a run in program order with the same reads); of those the first is shown. Source:
docs/theory-safety.md, "Machines".

The moves of a run that matter for the claim that fails in it: those on which what the claim looks at depends.

The question that :mod:`what_matters` answers for other runs, with its rules for registers; what the stepwise machines have
besides (store buffers, flushes, draws, remote atomics) is added here. Asked for is also the first reordering of the run that
sequential consistency does not have, which is why the run is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.expr import conj, names
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Get,
    Nondet,
    Program,
    Put,
    Read,
    RemoteOp,
    RemoteRmw,
    Rmw,
    Silent,
    Step,
    Write,
    peer_of,
)
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.stepcode import delivered_to
from rdma_robust.semantics.order_table import oppo_scope
from rdma_robust.semantics.trace import EventType
from rdma_robust.semantics.what_matters import RunDependence, matter

NEVER: Final = 1 << 60
"""The moment of what has not taken effect when the run ends."""

BUFFERED: Final = ("tso", "pso")
"""The models in which a store goes through a buffer."""

Kind = Literal["load", "store", "atomic", "NIC read", "NIC write"]

STRONGER: Final[dict[AnyModelName, tuple[AnyModelName, ...]]] = {
    "sc": (),
    "tso": ("sc",),
    "pso": ("tso", "sc"),
    "rma": ("rdma", "sc"),
    "rdma": ("sc",),
}
"""The models that allow less than a model does, the nearest first."""


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """An access of a run: whose, for which step, its word, its place in program order and the moment of its effect.

    `place` is the number of the move with which its thread did or posted it, `part` its place within an operation. A load
    whose value came from a store that was still buffered has that store as `own`.
    """

    thread: int
    step: Step
    kind: Kind
    cell: Cell
    place: int
    part: int
    moment: int
    own: int | None = None

    @property
    def writes(self) -> bool:
        return self.kind in ("store", "atomic", "NIC write")


@dataclass(frozen=True, slots=True)
class Reordering:
    """Two accesses of a thread, the `earlier` one of which took effect after the `later` one, or not at all."""

    earlier: MemoryAccess
    later: MemoryAccess

    @property
    def moment(self) -> int:
        return self.later.moment


def landing(model: AnyModelName) -> Verb:
    """Return the kind of move in which the write of a remote operation reaches memory."""
    return Verb.FLUSH if model == "rdma" else Verb.NIC_WRITE


def nearest(model: AnyModelName, among: Collection[AnyModelName]) -> AnyModelName | None:
    """Return the nearest model `among` those that allow less than `model` does, None if there is none."""
    return next((each for each in STRONGER[model] if each in among), None)


def model_differences(
    outcomes: Sequence[SafetyOutcome],
) -> Iterator[tuple[SafetyOutcome, AnyModelName, Reordering | None]]:
    """Yield each answer with a run whose nearest stronger model that was asked is safe, that model, and what makes the
    difference."""
    found = {outcome.model: outcome for outcome in outcomes}
    for weaker, outcome in found.items():
        stronger = nearest(weaker, found)
        if outcome.run is not None and stronger is not None and found[stronger].safety is Safety.SAFE:
            yield outcome, stronger, difference(outcome.run.moves, weaker, stronger)


def difference(moves: Sequence[Move], weaker: AnyModelName, stronger: AnyModelName) -> Reordering | None:
    """Return the reordering in a run of `weaker` for which `stronger` does not have it, None if there is none to show."""
    found = accesses([move.action for move in moves], weaker)
    pairs = [pair for pair in reorderings(found) if not _allowed(pair, stronger)]
    needed = [pair for pair in pairs if _on_cycle(found, pair)]
    chosen = sorted(needed or pairs, key=lambda pair: (pair.moment, pair.later.place - pair.earlier.place))
    return chosen[0] if chosen else None


def accesses(actions: Sequence[Action], model: AnyModelName) -> list[MemoryAccess]:
    """Return the accesses of a run under a model, those of a thread in program order."""
    found: list[MemoryAccess] = []
    for moment, action in enumerate(actions):
        if action.verb is Verb.FLUSH and action.cell is not None:
            _land(found, action.thread, action.cell, moment)
        elif action.step is not None:
            if action.verb is landing(model) and _of_card(action.step):
                _take(found, action, 1, moment)
            else:
                found += _new(found, action, action.step, moment, model in BUFFERED)
    return sorted(found, key=lambda each: (each.thread, each.place, each.part))


def _land(found: list[MemoryAccess], thread: int, cell: Cell, moment: int) -> None:
    """Note when the oldest store of a thread to a word that is not in memory reaches it."""
    for number, each in enumerate(found):
        if (each.thread, each.cell, each.kind, each.moment) == (thread, cell, "store", NEVER):
            found[number] = replace(each, moment=moment)
            return


def _new(found: list[MemoryAccess], action: Action, step: Step, moment: int, buffered: bool) -> Iterator[MemoryAccess]:
    op, thread = step.op, action.thread
    match op, action.verb:
        case Read(cell), Verb.ACCESS:
            mine = [n for n, a in enumerate(found) if (a.thread, a.cell, a.kind, a.moment) == (thread, cell, "store", NEVER)]
            yield MemoryAccess(thread, step, "load", cell, moment, 0, moment, found[mine[-1]].place if mine else None)
        case Write(cell), Verb.ACCESS:
            yield MemoryAccess(thread, step, "store", cell, moment, 0, NEVER if buffered else moment)
        case ((Cas(cell) | Rmw(cell)), Verb.ACCESS):
            yield MemoryAccess(thread, step, "load" if action.written is None else "atomic", cell, moment, 0, moment)
        case ((Put() | Get() | RemoteRmw()), Verb.ISSUE):
            yield MemoryAccess(thread, step, _read_kind(op), op.source, moment, 0, moment if op.source.hidden else NEVER)
            yield MemoryAccess(thread, step, "NIC write", delivered_to(op), moment, 1, NEVER)
        case ((Put() | Get() | RemoteRmw()), Verb.NIC_READ):
            if not _take(found, action, 0, moment):
                yield MemoryAccess(thread, step, _read_kind(op), op.source, moment, 0, moment)
                yield MemoryAccess(thread, step, "NIC write", delivered_to(op), moment, 1, NEVER)
        case ((Put() | Get() | RemoteRmw()), Verb.NIC_WRITE):
            _take(found, action, 1, moment)


def _read_kind(op: RemoteOp) -> Kind:
    return "atomic" if isinstance(op, RemoteRmw) else "NIC read"


def _take(found: list[MemoryAccess], action: Action, part: int, moment: int) -> bool:
    """Note the moment of the oldest operation of a step that has not come so far yet; return whether there is one."""
    for number, each in enumerate(found):
        if (each.thread, each.step, each.part, each.moment) == (action.thread, action.step, part, NEVER):
            read = part == 0 or any(
                (a.thread, a.place, a.part) == (each.thread, each.place, 0) and a.moment < NEVER for a in found
            )
            if read:
                found[number] = replace(each, moment=moment)
                return True
    return False


def reorderings(found: Sequence[MemoryAccess]) -> Iterator[Reordering]:
    """Yield every pair of accesses of one operation's thread that took effect the other way round."""
    for number, earlier in enumerate(found):
        for later in found[number + 1 :]:
            if later.thread != earlier.thread:
                break
            if later.place > earlier.place and later.moment < earlier.moment and later.own != earlier.place:
                yield Reordering(earlier, later)


def _allowed(pair: Reordering, model: AnyModelName) -> bool:
    """Return whether a model has a reordering, whatever else the run does."""
    kinds = (pair.earlier.kind, pair.later.kind)
    match model:
        case "sc":
            return False
        case "tso":
            return kinds == ("store", "load")
        case "pso":
            return kinds in (("store", "load"), ("store", "store")) and pair.earlier.cell != pair.later.cell
        case "rdma":
            return not _kept_by_table(pair)
        case _:
            return True


def _of_card(step: Step) -> bool:
    return isinstance(step.op, RemoteOp)


def _kept_by_table(pair: Reordering) -> bool:
    """Return whether the order table of RDMA keeps two accesses in order; of remote atomics it says nothing."""
    earlier, later = _event(pair.earlier), _event(pair.later)
    if earlier is None or later is None:
        return False
    scope = oppo_scope(earlier, later)
    return scope == "all" or (scope == "qp" and peer_of(pair.earlier.step.op) == peer_of(pair.later.step.op))


def _event(each: MemoryAccess) -> EventType | None:
    match each.kind, each.step.op:
        case "load", _:
            return EventType.LR
        case "store", _:
            return EventType.LW
        case "atomic", Cas() | Rmw():
            return EventType.CAS
        case kind, Put():
            return EventType.NLR if kind == "NIC read" else EventType.NRW
        case kind, Get():
            return EventType.NRR if kind == "NIC read" else EventType.NLW
    return None


def _on_cycle(found: Sequence[MemoryAccess], pair: Reordering) -> bool:
    """Return whether a path leads from the later access of a pair back to the earlier one, by conflicts at both ends."""
    last = {each for each in found if pair.earlier in _conflicting(found, each)}
    todo = list(_conflicting(found, pair.later))
    seen: set[MemoryAccess] = set()
    while todo:
        here = todo.pop()
        if here in last:
            return True
        if here not in seen:
            seen.add(here)
            todo += [*_conflicting(found, here), *(each for each in found if _before(here, each))]
    return False


def _before(first: MemoryAccess, second: MemoryAccess) -> bool:
    """Return whether one access is before another in program order."""
    return first.thread == second.thread and (first.place, first.part) < (second.place, second.part)


def _conflicting(found: Sequence[MemoryAccess], here: MemoryAccess) -> Iterator[MemoryAccess]:
    """Yield the accesses of other threads to the same word that take effect later, where one of the two writes."""
    for each in found:
        conflict = each.thread != here.thread and each.cell == here.cell and (each.writes or here.writes)
        if conflict and _moment(here, found) < _moment(each, found):
            yield each


def _moment(each: MemoryAccess, found: Sequence[MemoryAccess]) -> float:
    """Return when an access counts for others: a load from the own buffer, right after its store."""
    if each.own is None:
        return each.moment
    return next((a.moment + 0.5 for a in found if (a.thread, a.place) == (each.thread, each.own)), each.moment)


def mattering(program: Program, run: SafetyRun, claim: SafetyClaim) -> set[int]:
    """Return the moves of `run` that matter for `claim`, by their numbers.

    Of a claim about places all do: what a thread has read and passed is how it came there.
    """
    if set(names(claim.bad)) & {name for name, _ in claim.atoms}:
        return set(range(len(run.moves)))
    slicing = _Slicing(run.model in BUFFERED, landing(run.model))
    for number, move in enumerate(run.moves):
        if move.action.verb is not Verb.START:
            slicing.add(number, move.action)
    wanted = {*_reordered(run), *slicing.looked_at(claim)}
    if claim.fault is not None:
        wanted.add(len(run.moves) - 1)
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    owned = [name.partition(".") for name in set(names(claim.bad))]
    registers = [(threads[owner], register) for owner, _, register in owned if owner in threads]
    return matter(program, slicing.deeds, wanted, registers)


def _reordered(run: SafetyRun) -> Iterator[int]:
    pair = difference(run.moves, run.model, "sc") if run.model != "sc" else None
    for each in (pair.earlier, pair.later) if pair is not None else ():
        yield each.place
        if each.moment < NEVER:
            yield each.moment


@dataclass
class _Slicing:
    """The moves that each move depends on. `under_way` has the stores of each thread to each word, and its operations by
    their statements, each by the numbers of their moves so far, oldest first."""

    buffered: bool
    landing: Verb
    deeds: dict[int, RunDependence] = field(default_factory=dict)
    written: dict[Cell, int] = field(default_factory=dict)
    under_way: dict[tuple[int, Step | Cell], list[list[int]]] = field(default_factory=dict)

    def looked_at(self, claim: SafetyClaim) -> Iterator[int]:
        """Yield the last writes of the words that a claim names."""
        used = set(names(claim.bad))
        yield from (number for cell, number in self.written.items() if str(cell) in used)

    def add(self, number: int, action: Action) -> None:
        step, thread = action.step, action.thread
        if step is None:
            self._land(number, action)
            return
        match step.op, action.verb:
            case (Put() | Get() | RemoteRmw()) as op, verb:
                self._operation(number, action, step, op, verb)
            case Write(cell), _ if self.buffered:
                self.deeds[number] = RunDependence(thread, step)
                self.under_way.setdefault((thread, cell), []).append([number])
            case op, _:
                self._access(number, action, step, op)

    def _land(self, number: int, action: Action) -> None:
        assert action.cell is not None
        stores = self.under_way.get((action.thread, action.cell), [])
        self.deeds[number] = RunDependence(action.thread, None, frozenset(stores.pop(0) if stores else ()))
        self.written[action.cell] = number

    def _access(self, number: int, action: Action, step: Step, op: object) -> None:
        sources: set[int] = set()
        cell = getattr(op, "cell", None)
        own = self.under_way.get((action.thread, cell), []) if isinstance(op, Read) and cell is not None else []
        if own:
            sources.add(own[-1][0])
        elif action.read is not None and cell in self.written:
            sources.add(self.written[cell])
        self.deeds[number] = RunDependence(action.thread, _known(step), frozenset(sources))
        if action.written is not None and cell is not None:
            self.written[cell] = number

    def _operation(self, number: int, action: Action, step: Step, op: RemoteOp, verb: Verb) -> None:
        mine = self.under_way.setdefault((action.thread, step), [])
        if verb is Verb.ISSUE or not mine:
            mine.append([number])
            self.deeds[number] = RunDependence(action.thread, _known(step))
            if verb is Verb.ISSUE:
                return
        found = mine[0]
        sources = {each for each in found if each != number}
        if verb is Verb.NIC_READ:
            sources |= {self.written[op.source]} if op.source in self.written else set()
        self.deeds[number] = RunDependence(action.thread, None, frozenset(sources))
        found.append(number)
        if verb is Verb.NIC_READ and action.written is not None:
            self.written[op.source] = number
        if verb is self.landing:
            self.written[delivered_to(op)] = number
            mine.remove(found)


def _known(step: Step) -> Step:
    """Return a step with the same uses of registers whose operation the event table has."""
    match step.op:
        case Nondet(low, high):
            ends = [end for end in (low, high) if end is not None]
            return replace(step, op=Silent(), guard=conj(step.guard, *ends))
        case RemoteRmw(_, source, new, when):
            return replace(step, op=Rmw(source, new, when))
        case _:
            return step
