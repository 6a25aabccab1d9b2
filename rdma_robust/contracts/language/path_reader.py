"""Path clauses of contracts: the short forms, and the three long ones, which mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.contract_program import PathClause, ProcessSet
from rdma_robust.contracts.language.spec_reader import PATH, SpecReader
from rdma_robust.diagnose import did_you_mean, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as written
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_parts import inner_operands
from rdma_robust.messages.language.message_words import PATH_FORMS

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
