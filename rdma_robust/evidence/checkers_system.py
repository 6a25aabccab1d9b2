"""The checker's own reduction of a program as a transition system for engines: they then find what it asks for."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Bad,
    Control,
    Draw,
    Drop,
    Join,
    SafetyClaim,
    Selection,
    Suppose,
    Transition,
    Update,
)
from rdma_robust.certify.safety.doubts import doubts_of
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram, ReducedStep
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
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import Expr, Name, names
from rdma_robust.language.flow.claims import AnyModelName

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
