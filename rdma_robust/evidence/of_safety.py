"""Certificates of safety: an inductive set of states of the checker's own reduction.

The checker has a reduction of its own, with its own states, so the invariant of the answer is not what it asks for. The
engine that found it is run once more, on that reduction; whether the two agree is thereby seen as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from rdma_robust.analyses.prove.engines import engines_for
from rdma_robust.analyses.prove.prove import MOST_ALIKE, most_room
from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome, SafetyRun
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Bad,
    Control,
    Draw,
    Drop,
    EngineResult,
    Join,
    Region,
    SafetyClaim,
    Selection,
    Suppose,
    Transition,
    Update,
)
from rdma_robust.analyses.prove.value_sets import value_sets
from rdma_robust.certify.document import GRAPHS, PROGRAM, Certificate, JsonObject, content_digest
from rdma_robust.certify.safety.claimed import claims_of
from rdma_robust.certify.safety.models import REDUCTIONS, reduced_program
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram, ReducedStep
from rdma_robust.certify.safety.safety_invariants import NOTHING
from rdma_robust.certify.safety.safety_runs import KIND as RUN
from rdma_robust.certify.safety.safety_runs import READ, STEP, STORE, WRITE
from rdma_robust.certify.safety.safety_states import KIND, StateKeys, doubts_of, small_registers, told_condition
from rdma_robust.certify.safety.thread_steps import Variables
from rdma_robust.certify.safety.wide_updates import (
    Fold,
    Take,
    WideAssignment,
    WideAssumption,
    WideChoice,
    WideHavoc,
    WideUpdate,
    WideUpdates,
)
from rdma_robust.errors import NO_SPAN, InternalError, SizeLimitError
from rdma_robust.expr import Expr, Name, names
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.cfg import Nondet, Program, Step, steps
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import has_text
from rdma_robust.limits import NO_LIMITS, Limits, ignore
from rdma_robust.semantics.machines.machine import Action, Verb

OVERFLOW = "overflow"
"""The control state after what must be impossible."""

SPARES = "$spare"


class CheckersSystem:
    """`system` as engines want it. What must be impossible is a violation of the one claim, number 0, or an overflow."""

    def __init__(self, system: ReducedProgram) -> None:
        self.system = system
        self.program = system.program
        self.model: AnyModelName = system.model
        self.claims: tuple[SafetyClaim, ...] = (SafetyClaim("invariant", "what the program claims", NO_SPAN, 0),)
        self._known: dict[PlacedState, list[Transition]] = {}
        wide = dict(system.initially())
        found = self._slots() if wide else ()
        self.wide: tuple[tuple[str, int], ...] = (*wide.items(), *((name, 0) for name in found if name not in wide))

    def _slots(self) -> list[str]:
        """Every other variable that an update may name: those of all control states, found without regard to conditions."""
        found: dict[str, None] = {}
        agenda = [self.system.initial()]
        seen = set(agenda)
        while agenda:
            state = agenda.pop()
            found |= dict.fromkeys(sorted(self.system.slots(state)))
            for transition in self.successors(state):
                for update in transition.updates:
                    if not isinstance(update, Suppose):
                        found[update.name] = None
                to = transition.to
                if isinstance(to, PlacedState) and to not in seen:
                    seen.add(to)
                    agenda.append(to)
        return list(found)

    def initial(self) -> Control:
        return self.system.initial()

    def successors(self, control: Control) -> list[Transition]:
        if not isinstance(control, PlacedState):
            return []
        if control not in self._known:
            self._known[control] = [self._transition(taken) for taken in self.system.successors(control)]
        return self._known[control]

    def _transition(self, taken: ReducedStep) -> Transition:
        to: Control = OVERFLOW if taken.to is None else taken.to
        return Transition((), tuple(updates_in_words(taken.updates)), to, taken.fault)

    def violations(self, control: Control) -> list[Bad]:
        if not isinstance(control, PlacedState):
            return []
        return [
            Bad(0, doubt.condition, (), tuple(updates_in_words(doubt.updates))) for doubt in doubts_of(self.system, control)
        ]

    def overflowed(self, control: Control) -> bool:
        return control == OVERFLOW

    def live(self, control: Control) -> frozenset[str]:
        return self.system.live(control) if isinstance(control, PlacedState) else frozenset()

    def described(self, control: Control) -> dict[str, object]:
        return {"state": str(control)}


def updates_in_words(updates: WideUpdates) -> Iterator[Update]:
    """Yield the checker's updates in the words of engines."""
    for update in updates:
        yield from _in_words(update)


def _in_words(update: WideUpdate) -> Iterator[Update]:
    match update:
        case WideAssumption(condition):
            yield Suppose(condition)
        case WideAssignment(values):
            yield from _one_by_one(list(values))
        case WideChoice(name, low, high):
            yield Draw(name, low, high)
        case Fold(name, value):
            yield Join(name, value)
        case Take(name, folded):
            yield Selection(name, folded)
        case WideHavoc(name):
            yield Drop(name)


def _one_by_one(rest: list[tuple[str, Expr]]) -> Iterator[Update]:
    """Yield what gives the values one after the other."""
    spares: list[str] = []
    while rest:
        free = next((i for i, (name, _) in enumerate(rest) if not _asked(name, rest[:i] + rest[i + 1 :])), None)
        if free is not None:
            yield Assignment(*rest.pop(free))
            continue
        name, value = rest[0]
        spare = f"{SPARES}{len(spares)}"
        spares.append(spare)
        yield Assignment(spare, value)
        rest[0] = (name, Name(spare))
    yield from map(Drop, spares)


def _asked(name: str, others: list[tuple[str, Expr]]) -> bool:
    return any(name in names(value) for _, value in others)


Key = TypeVar("Key", bound=Hashable)


def safety_certificate(outcome: SafetyOutcome, file: str | None, limits: Limits = NO_LIMITS) -> Certificate | None:
    """Return the certificate of an answer of `prove`, None if it is UNKNOWN.

    `file` is the path of the program relative to the certificate. Raises SizeLimitError if there is none, with the limit or
    other reason, and InternalError if the checker's reduction contradicts the answer.
    """
    if outcome.safety is Safety.UNKNOWN:
        return None
    if outcome.model not in REDUCTIONS:
        raise SizeLimitError(f"the checker knows the models {', '.join(REDUCTIONS)}, and not {outcome.model}")
    program = outcome.program
    written = has_text(program)
    text = program.source if written else canonical_text(program)
    kind = PROGRAM if written else GRAPHS
    if outcome.run is not None:
        claim, evidence = "unsafe", run_moves(program, outcome.run)
    else:
        claim, evidence = "safe", safe_evidence(outcome, limits)
    return Certificate(kind, file, content_digest(text), {"kind": claim}, {"model": outcome.model}, evidence)


def safe_evidence(outcome: SafetyOutcome, limits: Limits = NO_LIMITS, *, lazy: bool = True) -> JsonObject:
    """Return the evidence that `outcome` is SAFE, see docs/certificate-evidence.md; raises as :func:`safety_certificate`."""
    program = outcome.program
    faults = (step.fault for thread in program.threads for _, _, step in steps(thread))
    if not claims_of(program, outcome.model) and not any(fault is not None for fault in faults):
        return {"kind": NOTHING}
    # Where all states were searched, every value is one of finitely many, whatever the text says of it.
    values = {} if outcome.engine == "explicit" else value_sets(program, outcome.reduction.narrow).of
    wide = frozenset(name for name, numbers in values.items() if numbers is None)
    numbers = {name: found for name, found in values.items() if found is not None}
    for bound in _bounds(outcome):
        system = reduced_program(Variables(program, wide, numbers), outcome.model, bound, lazy=lazy)
        found = _searched(outcome, system, limits)
        if found.invariant is not None:
            return evidence_of(system, found.invariant)
    if not wide and outcome.model != "rma":
        raise InternalError(f"the checker's reduction of {program.name} under {outcome.model} is not safe")
    raise SizeLimitError(f"the checker's own reduction does not prove it with the engine {outcome.engine}")


def _bounds(outcome: SafetyOutcome) -> Iterator[int]:
    """Yield the bounds to try: that of the answer first, for the checker may be less exact with it."""
    bound = outcome.reduction.bound
    if outcome.model == "rma":
        yield from range(bound, max(bound, MOST_ALIKE) + 1)
        return
    bound, most = max(bound, 1), most_room(outcome.program, outcome.model)
    while bound <= most:
        yield bound
        bound = min(2 * bound, most) if bound < most and outcome.model != "sc" else most + 1


def _searched(outcome: SafetyOutcome, system: ReducedProgram, limits: Limits) -> EngineResult:
    """Run the engine that gave the answer on the checker's reduction. Raises SizeLimitError if it is cut short."""
    seen = CheckersSystem(system)
    name = "explicit" if not seen.wide else "zones" if outcome.engine in (None, "explicit") else outcome.engine
    found = [engine(seen, limits, ignore) for _, engine in engines_for(seen, name)][-1]
    if found.cut:
        raise SizeLimitError(limits.said(found.cut) if limits.knows(found.cut) else found.cut)
    return found


def evidence_of(system: ReducedProgram, invariant: Mapping[Control, tuple[Region, ...]]) -> JsonObject:
    """Return an invariant of the checker's reduction in the words of the format."""
    tables = _Tables(system)
    states = [tables.row(control, regions) for control, regions in invariant.items() if isinstance(control, PlacedState)]
    variables = system.variables
    split = {name for code in system.code for name in code.names} | set(system.words)
    return {
        "kind": KIND,
        "bound": system.bound,
        "lazy": system.lazy,
        "wide": sorted(variables.wide),
        "numbers": [
            {"variable": name, "values": list(values)}
            for name, values in sorted(variables.numbers.items())
            if variables.wide and name in split
        ],
        "threads": [
            {
                "thread": code.thread.name,
                "registers": small_registers(system, t),
                "states": [list(state) for state in tables.threads[t]],
                "under_way": list(tables.under_way[t].values()),
            }
            for t, code in enumerate(system.code)
        ],
        "words": [word for word, wide in zip(system.words, system.wide_words, strict=True) if not wide],
        "memory": [list(values) for values in tables.memory],
        "conditions": [told_condition(condition) for condition in tables.conditions],
        "regions": [list(region) for region in tables.regions],
        "states": states,
    }


class _Tables:
    """Everything that states have in common, each thing once and numbered."""

    def __init__(self, system: ReducedProgram) -> None:
        self._system = system
        self._keys = StateKeys(system)
        self.threads: list[dict[tuple[int, ...], int]] = [{} for _ in system.code]
        self.under_way: list[dict[str, object]] = [{} for _ in system.code]
        self._own: list[dict[str, int]] = [{} for _ in system.code]
        self.memory: dict[tuple[int, ...], int] = {}
        self.conditions: dict[Expr, int] = {}
        self.regions: dict[tuple[int, ...], int] = {}

    def row(self, state: PlacedState, regions: Iterable[Region]) -> list[object]:
        threads = [
            _number(self.threads[t], (point, *_small(registers)))
            for t, (point, registers) in enumerate(zip(state.points, state.registers, strict=True))
        ]
        under_way = []
        for t, own in enumerate(state.own):
            key = self._keys.own(t, own)
            self.under_way[t].setdefault(key, self._system.told(t, own))
            under_way.append(_number(self._own[t], key))
        return [threads, _number(self.memory, _small(state.memory)), under_way, [self._region(r) for r in regions]]

    def _region(self, region: Region) -> int:
        return _number(self.regions, tuple(_number(self.conditions, condition) for condition in region))


def _number(table: dict[Key, int], key: Key) -> int:
    return table.setdefault(key, len(table))


def _small(values: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(value for value in values if value is not None)


# runs


def run_moves(program: Program, run: SafetyRun) -> JsonObject:
    """Return the evidence that a run of the model's machine is, move by move."""
    moves: list[JsonObject] = []
    for before, move in zip(run.moves, run.moves[1:], strict=False):
        action = move.action
        point = before.state.threads[action.thread].point
        moves.append(_told(program, run, action, (point, move.state.threads[action.thread].point)))
    return {"kind": RUN, "moves": moves}


def _told(program: Program, run: SafetyRun, action: Action, points: tuple[int, int]) -> JsonObject:
    does = {Verb.NIC_READ: READ, Verb.NIC_WRITE: WRITE, Verb.FLUSH: STORE}.get(action.verb, STEP)
    if run.model == "sc" and does == READ:
        does = STEP
    if run.model == "rdma" and action.verb is Verb.FENCE:
        does = READ
    drawn = does == STEP and action.step is not None and isinstance(action.step.op, Nondet)
    number = (
        None if action.step is None else _step_number(program, action.thread, action.step, points if does == STEP else None)
    )
    return {
        "thread": program.threads[action.thread].name,
        "does": does,
        "step": number,
        "word": None if action.cell is None else str(action.cell),
        "value": action.read if drawn else action.written if does == WRITE else None,
    }


def _step_number(program: Program, thread: int, step: Step, points: tuple[int, int] | None) -> int:
    """Return the number of a step in `cfg.steps`, of the one between two program points if these are known.

    What leads from one point to two may look the same; a posting under sc leads nowhere yet.
    """
    alike = [(n, source, target) for n, (source, target, each) in enumerate(steps(program.threads[thread])) if each == step]
    if points is None:
        return alike[0][0]
    from_there = [(n, target) for n, source, target in alike if source == points[0]]
    return next((n for n, target in from_there if target == points[1]), from_there[0][0])
