"""The reader of contracts: names are resolved, behaviors and short forms written out."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.bounds_reader import BoundsReader
from rdma_robust.contracts.language.contract_program import (
    AssignedCells,
    AssignsClause,
    Contract,
    PathClause,
    ProcessSet,
    StateClause,
)
from rdma_robust.contracts.language.spec_reader import AT_ENTRY, AT_EXIT, FRAME, PATH, Owner, SpecReader
from rdma_robust.contracts.language.spec_terms import known_value, sees_the_exit, specs_in
from rdma_robust.diagnose import Hint, Reporter, did_you_mean, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as written
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_parts import all_lines, inner_operands, returns
from rdma_robust.messages.language.message_words import PATH_FORMS
from rdma_robust.messages.language.message_world import GlobalScope

_LAST = spec.Apply("-", (spec.SpecCount(), spec.SpecNumber(1)))
_NAMELESS = "\\nameless"
"""The port of sends and receives without `on`."""
_OWN = written.SetOf("", tree.OwnNumber())


@dataclass(frozen=True, slots=True)
class PathReader:
    """Reads path clauses of one contract."""

    specs: SpecReader

    def waits_for(self, clause: written.WaitsForClause, assumes: spec.Spec | None) -> PathClause:
        """Return a `waitsfor`, of a behavior with what that assumes."""
        who = self._set(clause.who)
        return PathClause("waitsfor", who, condition=self._condition(clause.condition, assumes), span=clause.span)

    def quiet(self, clause: written.Quiet, assumes: spec.Spec | None) -> PathClause:
        """Return a `quiet to` or `quiet from`."""
        who, port = self._set(clause.who), self._port(clause.port)
        tag = None if clause.tag is None else self._tag(clause.tag)
        until = None if clause.until is None else self._set(clause.until)
        condition = self._condition(clause.condition, assumes)
        return PathClause("quiet from" if until is None else "quiet to", who, tag, port, until, condition, clause.span)

    def long_form(self, word: str, never: written.AbsenceClause, assumes: spec.Spec | None, span: Span) -> PathClause | None:
        """Return what `\\no` says behind `requires` or `ensures`; None after an error."""
        short = _short(word, never, span)
        if short is None:
            said = f"this is none of the forms that `\\no` has in `{word}`"
            self.specs.report.error("RR955", never.span, said, hint=PATH_FORMS)
            return None
        return self.waits_for(short, assumes) if isinstance(short, written.WaitsForClause) else self.quiet(short, assumes)

    def premise(self, parts: tuple[object, ...], assumes: spec.Spec | None) -> spec.Spec | None:
        """Return what a path clause assumes behind `==>` and before `if`, in a behavior with what that assumes."""
        for each in parts:
            assumes = self._condition(each, assumes)
        return assumes

    def _condition(self, condition: object, assumes: spec.Spec | None) -> spec.Spec | None:
        if condition is None:
            return assumes
        found = self.specs.spec(condition, PATH)
        return found if assumes is None else spec.Apply("&&", (assumes, found))

    def _set(self, found: written.SetOf) -> ProcessSet:
        if found.word:
            return ProcessSet(spec.SpecNumber(0), _LAST, found.word == "others")
        low = self.specs.spec(found.low, PATH)
        return ProcessSet(low, low if found.high is None else self.specs.spec(found.high, PATH))

    def _tag(self, tag: object) -> spec.Spec:
        return self.specs.spec(tag, PATH)

    def _port(self, name: ast.Ident | None) -> int | None:
        if name is None or name.text == _NAMELESS:
            return None if name is None else 0
        world = self.specs.world
        found = world.ports.get(name.text)
        if found is None and name.text not in world.poisoned:
            hint = did_you_mean(name.text, world.ports) or f"`port {name.text}` outside of functions declares it"
            self.specs.report.error("RR903", name.span, f"there is no port {quote(name.text)}", hint=hint)
        return found or 0


def clauses_of(formula: object, premises: tuple[object, ...] = ()) -> Iterator[tuple[object, tuple[object, ...]]]:
    """Yield what `requires` or `ensures` says in parts: path clauses, and what speaks of the state, each with its premises.

    What is the operand of something else than `&&` and `==>` stays where it is.
    """
    match formula:
        case ast.Binary("&&", left, right) if has_path(formula):
            yield from clauses_of(left, premises)
            yield from clauses_of(right, premises)
        case ast.Binary("==>", left, right) if has_path(right) and not has_path(left):
            yield from clauses_of(right, (*premises, left))
        case _:
            yield formula, premises


def has_path(formula: object) -> bool:
    """Whether a `\\no` stands somewhere in an expression."""
    stack = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, written.AbsenceClause):
            return True
        stack += inner_operands(part)
    return False


def _short(word: str, never: written.AbsenceClause, span: Span) -> written.WaitsForClause | written.Quiet | None:
    """Return the short form of a long one, None if it is none of the three."""
    what, after, until = never.what, never.after, never.until
    if any(len(event.arguments) != 1 for event in (after, until)):
        return None
    (entered,), (ended,) = after.arguments, until.arguments
    match word, what.word, after.word, until.word, what.arguments:
        case "ensures", "exit", "enter", "enter", (exits,) if exits == _OWN == entered:
            return written.WaitsForClause(ended, span=span)
        case "ensures", "send", "enter", "enter", (sender, to, *tag) if sender == _OWN == entered and _are_tag(tag):
            return written.Quiet(to, tag=tag[0].low if tag else None, until=ended, span=span)
        case "requires", "send", "exit", "exit", (senders, to, *tag) if to == _OWN == ended and _are_tag(tag):
            return written.Quiet(senders, tag=tag[0].low if tag else None, span=span) if senders == entered else None
        case _:
            return None


def _are_tag(found: list[written.SetOf]) -> bool:
    """Whether what stands behind two sets in `\\send` is nothing, or one expression."""
    return not found or (len(found) == 1 and not found[0].word and found[0].high is None)


_ASSUMES = replace(AT_ENTRY, where="`assumes`")


def read_contract(world: GlobalScope, report: Reporter, function: tree.FunctionItem, calls: tuple[str, ...]) -> Contract:
    """Return the contract of a function that has one; `calls` are the functions with contracts that it calls.

    Errors go to `report`, and so do warnings.
    """
    assert function.contract is not None
    return _ContractReader(world, report, function, function.contract).contract(calls)


@dataclass(slots=True)
class _Behavior:
    """The clauses behind one head, or before the first."""

    name: ast.Ident | None = None
    assumes: spec.Spec | None = None
    has_others: Span | None = None
    """Where its `assumes` looks at other processes."""
    started: bool = False


@dataclass(slots=True)
class _ClauseLists:
    """The clauses that were read."""

    clauses: list[StateClause] = field(default_factory=list)
    frames: list[AssignsClause] = field(default_factory=list)
    paths: list[PathClause] = field(default_factory=list)


class _ContractReader:
    """Reads one contract."""

    def __init__(
        self, world: GlobalScope, report: Reporter, function: tree.FunctionItem, text: written.ContractText
    ) -> None:
        self.world = world
        self.report = report
        self.function = function
        self.text = text
        names = frozenset(each.text for each in function.parameters)
        self.owner = Owner(function.name.text, names, _may_return(function.body), text.kind == "local")
        self.specs = SpecReader(world, report, self.owner)
        self.paths = PathReader(self.specs)
        self.bounds = BoundsReader(self.specs, "a parameter, or a register declared outside")
        self.found = _ClauseLists()
        self.behavior = _Behavior()
        self.behaviors: dict[str, _Behavior] = {}
        self.all_or_one: list[written.Behaviors] = []

    def contract(self, calls: tuple[str, ...]) -> Contract:
        for part in self.text.parts:
            self._part(part)
            self.behavior.started = True
            if isinstance(part, written.BehaviorHead):
                self.behavior = self._behavior(part.name)
        self.found.clauses += filter(None, map(self._all_or_one, self.all_or_one))
        found, at = self.found, self.report.at
        frames = tuple(replace(each, span=at(each.span)) for each in found.frames)
        if not frames:
            hint = "`assigns \\nothing;`, or the registers declared outside that it changes"
            self.report.warn("RR751", self.function.name.span, _no_assigns(self.owner.name), hint=hint)
        return Contract(
            self.owner.name,
            "local" if self.owner.is_local else "collective",
            tuple(each.text for each in self.function.parameters),
            self.owner.result,
            tuple(replace(each, span=at(each.span)) for each in found.clauses),
            frames or None,
            tuple(replace(each, span=at(each.span)) for each in found.paths),
            tuple(self.bounds.found.values()),
            calls,
            at(self.function.name.span),
        )

    def _behavior(self, name: ast.Ident) -> _Behavior:
        made = _Behavior(name)
        before = self.behaviors.setdefault(name.text, made)
        if before is not made and before.name is not None:
            said = f"the behavior {quote(name.text)} was declared before, on line {before.name.span.line}"
            self.report.error("RR904", name.span, said)
        return made

    def _all_or_one(self, part: written.Behaviors) -> StateClause | None:
        """Return the clause that behaviors are complete, or disjoint; None after an error."""
        names = [each.text for each in part.names] or list(self.behaviors)
        for each in part.names:
            if each.text not in self.behaviors and each.text not in self.world.poisoned:
                hint = meant_at(each.span, each.text, self.behaviors) or "`behavior NAME:` begins one"
                self.report.error("RR956", each.span, f"there is no behavior {quote(each.text)}", hint=hint)
        found = [self.behaviors[each] for each in dict.fromkeys(names) if each in self.behaviors]
        if not found:
            if not part.names:
                said = f"there are no behaviors that could be {part.word}"
                self.report.error("RR956", part.span, said, hint="`behavior NAME:` begins one")
            return None
        one = spec.SpecNumber(1)
        holds = [spec.Apply("?", (each.assumes or one, one, spec.SpecNumber(0))) for each in found]
        number = functools.reduce(lambda total, each: spec.Apply("+", (total, each)), holds)
        wanted = spec.Apply(">=" if part.word == "complete" else "<=", (number, one))
        said = f"that the behaviors of {self.owner.name} are {part.word} is false"
        return StateClause("ensures", spec.OldValue(wanted), None, part.span, said)

    def _part(self, part: written.Part) -> None:
        match part:
            case written.ConditionClause("assumes"):
                self._assumes(part)
            case written.ConditionClause("invariant" | "decreases" as word):
                hint = "a loop has one: `while E contract loop NAME { ... } { ... }`; here are `requires` and `ensures`"
                self.report.error("RR959", part.span, f"`{word}` stands in contracts of loops only", hint=hint)
            case written.ConditionClause():
                self._formula(part)
            case written.Behaviors():
                self.all_or_one.append(part)
            case written.AssignsLine():
                self._assigns(part)
            case written.BoundsLine():
                self.bounds.read(part, {*self.owner.parameters, *self.world.globals, *self.world.poisoned})
                if self.behavior.name is not None:
                    before = "write it before the first `behavior`"
                    self.report.error("RR953", part.span, "`bounds` is not for one behavior only", hint=before)
            case written.WaitsForClause():
                self.found.paths.append(self.paths.waits_for(part, self._of_path(part.span)))
            case written.Quiet():
                self.found.paths.append(self.paths.quiet(part, self._of_path(part.span)))
            case written.BehaviorHead() | ast.BrokenStatement():
                pass

    def _assumes(self, part: written.ConditionClause) -> None:
        if self.behavior.name is None:
            hint = "`behavior NAME:` begins one; what all calls have to meet is a `requires`"
            self.report.error("RR956", part.span, "`assumes` stands in behaviors only", hint=hint)
        elif self.behavior.started:
            hint = "write it right behind `behavior NAME:`, once; `&&` joins conditions"
            self.report.error("RR956", part.span, "`assumes` is the first clause of a behavior", hint=hint)
        self.behavior.assumes = self.specs.spec(part.value, _ASSUMES)
        if any(isinstance(each, spec.On | spec.Agree) for each in specs_in(self.behavior.assumes)):
            self.behavior.has_others = part.span

    def _of_path(self, span: Span) -> spec.Spec | None:
        """Return what a path clause assumes, once it is sure that it may be here."""
        if self.owner.is_local:
            hint = "only collective functions have them: all processes call these"
            said = f"a path clause in the contract of {quote(self.owner.name)}, which is local"
            self.report.error("RR954", span, said, hint=hint)
        elif self.behavior.has_others is not None:
            line = self.behavior.has_others.line
            said = f"a path clause is evaluated in one process's own state, and the `assumes` of line {line} looks at others"
            self.report.error("RR951", span, said, hint="put it into a behavior of its own, or behind `if`")
        return self.behavior.assumes

    def _formula(self, part: written.ConditionClause) -> None:
        """Read `requires` or `ensures`: what they say of the state, and path clauses in their long forms."""
        for value, premises in clauses_of(part.value):
            if isinstance(value, written.AbsenceClause):
                conditions = premises if part.condition is None else (*premises, part.condition)
                assumed = self.paths.premise(conditions, self._of_path(part.span))
                clause = self.paths.long_form(part.word, value, assumed, part.span)
                self.found.paths += [] if clause is None else [clause]
                continue
            if part.condition is not None:
                hint = "write `CONDITION ==> ...`"
                self.report.error("RR955", part.span, "`if` stands behind path clauses only", hint=hint)
            for each in reversed(premises):
                value = ast.Binary("==>", each, value, tree.operand(value).span)  # type: ignore[arg-type]
            self._condition(part, value)

    def _condition(self, part: written.ConditionClause, value: object) -> None:
        exit_ = part.word == "ensures"
        condition = self.specs.spec(value, AT_EXIT if exit_ else AT_ENTRY)
        clause = StateClause("ensures" if exit_ else "requires", condition, self.behavior.assumes, part.span)
        self.found.clauses.append(clause)
        known = known_value(condition)
        if exit_ and not sees_the_exit(condition) and known != 0:
            hint = "name `\\result`, or a register declared outside as it is at exit"
            self.report.warn("RR752", part.span, "this says nothing about what a call does", hint=hint)
        if not exit_ and known == 0:
            hint = "no call meets this, so there is nothing to check"
            self.report.warn("RR753", part.span, "this is never true, whatever the inputs are", hint=hint)

    def _assigns(self, part: written.AssignsLine) -> None:
        cells = tuple(self._cells(each) for each in part.cells)
        self.found.frames.append(AssignsClause(cells, self.behavior.assumes, part.span))

    def _cells(self, cells: written.CellsOf) -> AssignedCells:
        text = cells.name.text
        if text not in self.world.globals and text not in self.world.poisoned:
            self._no_global(cells.name)
        low = None if cells.low is None else self.specs.spec(cells.low, FRAME)
        high = low if cells.high is None else self.specs.spec(cells.high, FRAME)
        return AssignedCells(text, low, high)

    def _no_global(self, name: ast.Ident) -> None:
        text = name.text
        if text in self.owner.parameters:
            said = f"{quote(text)} is a parameter: parameters are passed by value, and nobody sees a change"
            self.report.error("RR952", name.span, said, hint="leave it out")
            return
        what = f"{quote(text)} is a constant" if text in self.world.constants else f"there is no register {quote(text)}"
        hint = meant_at(name.span, text, self.world.globals) or Hint("`assigns` names registers declared outside")
        self.report.error("RR952", name.span, f"{what} that a call could change", hint=hint)


def _may_return(block: ast.Block) -> bool:
    """Whether a block returns a value, or may where a statement could not be read."""
    return returns(block) or any(isinstance(each, ast.BrokenStatement) for each in all_lines(block))


def _no_assigns(name: str) -> str:
    return f"the contract of {quote(name)} has no `assigns`: a call of it may change every register declared outside"
