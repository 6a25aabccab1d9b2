"""Values of contract expressions in a rerun: an evaluator of its own, so that a mistake in another one shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rdma_robust.contracts.language.contract_program import AssignsClause, InputBounds, PathClause, ProcessSet, StateClause
from rdma_robust.contracts.language.spec_terms import (
    Agree,
    Apply,
    BoundVariable,
    FunctionResult,
    Global,
    Item,
    LengthOf,
    LetBinding,
    NewArray,
    OldValue,
    On,
    Parameter,
    Quantification,
    Spec,
    SpecCount,
    SpecNumber,
    SpecPid,
)
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_terms import Element, FaultError, Length, Operation, Term, Value, Zeros
from rdma_robust.messages.replay.worth import replay_value


class Taking(NamedTuple):
    """A posted receive; None is any."""

    source: int | None
    port: int
    tag: int | None

    def accepts(self, message: RerunMessage) -> bool:
        return (
            self.port == message.port
            and self.source in (None, message.sender)
            and self.tag in (None, message.tag)
        )  # fmt: skip


class RerunMessage(NamedTuple):
    sender: int
    port: int
    tag: int
    value: Value


Matching = frozenset[tuple[int, int]]
"""Pairs of a receive and a message, by their numbers."""


@dataclass(slots=True)
class Matches:
    """The messages that came to a process, in the order in which they were sent, and the matchings that there may be."""

    messages: list[RerunMessage] = field(default_factory=list)
    known: set[Matching] = field(default_factory=lambda: {frozenset()})

    def enabled(self, matching: Matching, posted: Sequence[Taking]) -> list[tuple[int, int]]:
        """Return the pairs that may match next, for receives in the order in which they were posted."""
        got, taken = {each for each, _ in matching}, {each for _, each in matching}
        receives = [(at, each) for at, each in enumerate(posted) if at not in got]
        waiting = [(at, each) for at, each in enumerate(self.messages) if at not in taken]
        found = []
        for at, receive in receives:
            for number, message in waiting:
                channel = message.sender, message.port
                overtakes = any(
                    before < number and (each.sender, each.port) == channel and receive.accepts(each)
                    for before, each in waiting
                )
                jumps = any(before < at and each.accepts(message) for before, each in receives)
                if receive.accepts(message) and not overtakes and not jumps:
                    found.append((at, number))
        return found

    def reachable(self, posted: Sequence[Taking]) -> set[Matching]:
        """Return every matching that there may be by now."""
        found, todo = set(self.known), list(self.known)
        while todo:
            matching = todo.pop()
            for pair in self.enabled(matching, posted):
                more = matching | {pair}
                if more not in found:
                    found.add(more)
                    todo.append(more)
        return found

    def has_got(self, matching: Matching, message: int) -> bool:
        """Whether a receive has got the message of this number."""
        return any(each == message for _, each in matching)

    def left(self, matching: Matching) -> list[RerunMessage]:
        """Return the messages that nothing has got."""
        taken = {each for _, each in matching}
        return [each for at, each in enumerate(self.messages) if at not in taken]

    def got_by(self, matching: Matching, receive: int) -> RerunMessage | None:
        """Return the message of a receive, None if it has none."""
        return next((self.messages[number] for at, number in matching if at == receive), None)


@dataclass(frozen=True, slots=True)
class ProcessValues:
    """The values of one process in a collective state: parameters and globals at entry, globals and result at exit."""

    parameters: Mapping[str, Value]
    at_entry: Mapping[str, Value]
    at_exit: Mapping[str, Value] | None = None
    result: Value | None = None


@dataclass(frozen=True, slots=True)
class SpecView:
    """Who looks at what everybody has; `then` looks at the entry."""

    everybody: tuple[ProcessValues, ...]
    me: int
    then: bool = False
    names: Mapping[str, Value] = field(default_factory=dict)

    def at(self, process: int) -> SpecView:
        if process < 0 or process >= len(self.everybody):
            raise FaultError("index")
        return SpecView(self.everybody, process, self.then, self.names)

    def naming(self, name: str, value: Value) -> SpecView:
        return SpecView(self.everybody, self.me, self.then, {**self.names, name: value})


def looked(spec: Spec, view: SpecView) -> Value:
    """Return what `spec` is worth. Raises FaultError."""
    own = view.everybody[view.me]
    if isinstance(spec, SpecNumber):
        return spec.value
    if isinstance(spec, SpecPid):
        return view.me
    if isinstance(spec, SpecCount):
        return len(view.everybody)
    if isinstance(spec, BoundVariable):
        return view.names[spec.name]
    if isinstance(spec, Parameter):
        return own.parameters[spec.name]
    if isinstance(spec, Global):
        return own.at_entry[spec.name] if view.then or own.at_exit is None else own.at_exit[spec.name]
    if isinstance(spec, FunctionResult):
        if own.result is None:
            raise FaultError("kind")
        return own.result
    if isinstance(spec, Apply):
        return _applied(spec, view)
    if isinstance(spec, Item | LengthOf | NewArray):
        return _array(spec, view)
    if isinstance(spec, On):
        return looked(spec.value, view.at(number_of(spec.process, view)))
    if isinstance(spec, OldValue):
        return looked(spec.value, SpecView(view.everybody, view.me, True, view.names))
    if isinstance(spec, Agree):
        found = [looked(spec.value, view.at(each)) for each in range(len(view.everybody))]
        return 1 if all(each == found[0] for each in found[1:]) else 0
    if isinstance(spec, LetBinding):
        return looked(spec.inner, view.naming(spec.name, looked(spec.value, view)))
    return _quantified(spec, view)


def number_of(spec: Spec, view: SpecView) -> int:
    """Return a number. Raises FaultError."""
    value = looked(spec, view)
    if isinstance(value, tuple):
        raise FaultError("kind")
    return value


def _array(spec: Item | LengthOf | NewArray, view: SpecView) -> Value:
    """Compute with values what the evaluator of expressions computes with them."""
    a, b = Name("a"), Name("b")
    if isinstance(spec, Item):
        return replay_value(Element(a, b), {"a": looked(spec.array, view), "b": looked(spec.index, view)})
    if isinstance(spec, LengthOf):
        return replay_value(Length(a), {"a": looked(spec.array, view)})
    return replay_value(Zeros(a), {"a": looked(spec.size, view)})


def _applied(spec: Apply, view: SpecView) -> Value:
    op, operands = spec.op, spec.operands
    if op == "?":
        return looked(operands[1] if number_of(operands[0], view) != 0 else operands[2], view)
    if op in ("&&", "||", "==>"):
        first = number_of(operands[0], view) != 0
        if first == (op == "||"):
            return 0 if op == "&&" else 1
        return 1 if number_of(operands[1], view) != 0 else 0
    values = [looked(each, view) for each in operands]
    if op in ("==", "!=") and all(isinstance(each, tuple) for each in values):
        return 1 if (values[0] == values[1]) is (op == "==") else 0
    terms: list[Term] = []
    for value in values:
        if isinstance(value, tuple):
            raise FaultError("kind")
        terms.append(Const(value))
    return replay_value(Operation(op, tuple(terms)), {})


def _quantified(spec: Quantification, view: SpecView) -> Value:
    low, high = number_of(spec.low, view), number_of(spec.high, view)
    found: list[int] = []
    for at in range(low, high + 1):
        value = number_of(spec.inner, view.naming(spec.name, at))
        if spec.kind == "forall" and value == 0:
            return 0
        if spec.kind == "exists" and value != 0:
            return 1
        found.append(value)
    if spec.kind in ("forall", "exists"):
        return 1 if spec.kind == "forall" else 0
    if spec.kind == "sum":
        return sum(found)
    if spec.kind == "count":
        return len([each for each in found if each != 0])
    if not found:
        raise FaultError("index")
    return sorted(found)[-1 if spec.kind == "max" else 0]


def true(spec: Spec, view: SpecView) -> bool:
    """Whether `spec` is a number other than 0. Raises FaultError."""
    return number_of(spec, view) != 0


def is_kept(clause: StateClause, view: SpecView) -> bool:
    """Whether a clause holds: not where a fault occurs in it."""
    try:
        entry = SpecView(view.everybody, view.me, True)
        return (clause.assumes is not None and not true(clause.assumes, entry)) or true(clause.condition, view)
    except FaultError:
        return False


def set_members(processes: ProcessSet, view: SpecView) -> list[int]:
    """Return the numbers of a set that are processes. Raises FaultError."""
    low, high = number_of(processes.low, view), number_of(processes.high, view)
    everybody = range(len(view.everybody))
    return [each for each in everybody if low <= each <= high and not (processes.others and each == view.me)]


def clause_applies(clause: PathClause, view: SpecView) -> bool:
    """Whether the `if` of a path clause is true. Raises FaultError."""
    return clause.condition is None or true(clause.condition, view)


def means(clause: PathClause, view: SpecView, port: int, tag: int | None) -> bool:
    """Whether a path clause speaks of messages on a port with a tag; of those with any tag, if that is None. May raise
    FaultError."""
    wanted = None if clause.tag is None else number_of(clause.tag, view)
    return clause.port in (None, port) and (wanted is None or wanted == tag)


# Clauses of a contract in a rerun: what may change, what inputs are looked at, and sets of path clauses that may fault.


def changed_outside_frames(frames: Sequence[AssignsClause], view: SpecView) -> str | None:
    """Return what a process has changed that its frames do not allow, None if nothing, '' if a fault occurs in one."""
    own = view.everybody[view.me]
    then = SpecView(view.everybody, view.me, True)
    now = own.at_exit or {}
    try:
        allowed = [
            (cells.name, _cells(cells.low, cells.high, then))
            for frame in frames
            if frame.assumes is None or true(frame.assumes, then)
            for cells in frame.cells
        ]
    except FaultError:
        return ""
    kept = {
        name: _kept(own.at_entry[name], value, [each for of, each in allowed if of == name]) for name, value in now.items()
    }
    return next((name for name, fine in kept.items() if not fine), None)


def _cells(low: Spec | None, high: Spec | None, view: SpecView) -> tuple[int, int] | None:
    if low is None:
        return None
    return number_of(low, view), number_of(low if high is None else high, view)


def _kept(before: Value, now: Value, cells: list[tuple[int, int] | None]) -> bool:
    if before == now or None in cells:
        return True
    if not isinstance(before, tuple) or not isinstance(now, tuple) or len(before) != len(now):
        return False
    changed = [at for at in range(len(now)) if before[at] != now[at]]
    return all(any(each is not None and each[0] <= at <= each[1] for each in cells) for at in changed)


def is_within(bounds: InputBounds, value: Value, view: SpecView, indices: tuple[int, ...] = ()) -> bool:
    """Whether an input, or the part of it that has these indices, is one at which the function's own check looks."""
    depth = len(indices)
    here = SpecView(view.everybody, view.me, False, dict(zip("ij", indices, strict=False)))
    low, high = bounds.lengths[depth] if depth < len(bounds.lengths) else (bounds.low, bounds.high)
    if low is None or high is None:
        return isinstance(value, int)
    try:
        first, last = number_of(low, here), number_of(high, here)
    except FaultError:
        return False
    if depth == len(bounds.lengths):
        return isinstance(value, int) and first <= value <= last
    if isinstance(value, int) or not first <= len(value) <= last:
        return False
    return all(is_within(bounds, each, view, (*indices, at)) for at, each in enumerate(value))


def concerns(clause: PathClause, view: SpecView, other: int, message: tuple[int, int | None]) -> bool:
    """Whether a path clause speaks of a message, given as port and tag, of or to `other`. Raises FaultError."""
    return other in set_members(clause.who, view) and means(clause, view, *message)


def look_at_all(clause: PathClause, view: SpecView) -> None:
    """Raise FaultError if a fault occurs anywhere in a path clause."""
    for processes in (clause.who, clause.until):
        if processes is not None:
            set_members(processes, view)
    if clause.tag is not None:
        number_of(clause.tag, view)
