"""Conditions on copies: `count(C at L) >= 2`, `some C: r == 1`, `all C: r <= 3`.

Where it is given how many copies there are, they are written out. Where there is any number, `count` becomes a name that
stands for a number, `some` is `count >= 1`, and `all` is that `count` of those without the condition is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from rdma_robust.diagnose import Hint, Reporter, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Binary, Const, Expr, Name, conj, disj, equals, negate
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.check.names import Group, ProgramNames, ThreadNames, declared
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.flow.claims import CopiesWith, EndedAtom, PointAt
from rdma_robust.language.flow.wanted_copies import AbsenceError, TooManyAlternativesError, alternatives
from rdma_robust.language.syntax import ast

_ABSENCE: Final = "not decided for any number of them, since what some copies reach, they reach beside more"


class StateReader(Protocol):
    """What resolves conditions on states, and knows of which copy a condition is."""

    world: ProgramNames
    report: Reporter
    copy: ThreadNames | None

    def resolve(self, expr: ast.Expr, /) -> Expr: ...

    def said_of_threads(self) -> dict[str, PointAt | EndedAtom]: ...

    def also_said(self, atoms: Mapping[str, PointAt | EndedAtom], /) -> None: ...


class CopiesResolver:
    """Resolves conditions on copies. `found` is what is asked of numbers that are not given, by name, and `spans` where."""

    def __init__(self, reader: StateReader) -> None:
        self._reader = reader
        self.found: dict[str, CopiesWith] = {}
        self.spans: dict[str, Span] = {}

    def resolve(self, expr: ast.CopiesWhere) -> Expr:
        """Return the condition, or the number; UNKNOWN after an error."""
        if self._reader.copy is not None:
            message = f"a condition on copies inside of one: {quote(self._text(expr))}"
            hint = "a condition behind `:` goes on as far as it can: put the first one in brackets, `(some C: ...)`"
            self._reader.report.error("RR510", expr.span, message, hint=hint)
            return UNKNOWN
        group = self._group(expr)
        if group is None:
            return UNKNOWN
        return self._of_each(expr, group) if group.is_open else self._written_out(expr, group)

    def _text(self, expr: ast.CopiesWhere) -> str:
        return " ".join(self._reader.report.source[expr.span.start : expr.span.end].split())

    def _group(self, expr: ast.CopiesWhere) -> Group | None:
        """Return the threads whose copies are meant; None after an error."""
        world, report, name = self._reader.world, self._reader.report, expr.thread
        group = world.groups.get(("thread", name.text))
        if group is not None and name.index is None:
            return group
        if not name.text or name.index is not None:
            expected = (
                "`count(C at LABEL)`, `count(C ended)` or `count(C: condition)`, where C is the name of several threads"
            )
            report.error("RR510", expr.span, "this does not say which copies are counted", expected=expected)
        elif name.text in world.threads:
            hint = Hint(f"say it of {name.text} itself, as in `{name.text} ended` or `{name.text}.register`")
            message = f"there is one thread {quote(name.text)}, and no copies of it"
            report.error("RR510", name.span, message, hint=hint)
        elif name.text not in world.poisoned:
            known = declared(world, "thread", world.threads)
            message = f"there is no thread {quote(name.text)}"
            report.error("RR217", name.span, message, hint=lambda: meant_at(name.span, name.text, known))
        return None

    def _condition(self, expr: ast.CopiesWhere, copy: ThreadNames) -> tuple[Expr, dict[str, PointAt | EndedAtom]]:
        """Return the condition on one copy, where it is defined, and what it says of threads."""
        reader = self._reader
        before = reader.said_of_threads()
        reader.copy = copy
        condition = reader.resolve(expr.condition)
        reader.copy = None
        mine = reader.said_of_threads()
        reader.also_said(before)
        return conj(divides_by_no_zero(condition), condition), mine

    def _of_each(self, expr: ast.CopiesWhere, group: Group) -> Expr:
        copy = self._reader.world.threads.get(group.name)
        if copy is None:
            return UNKNOWN
        condition, atoms = self._condition(expr, copy)
        text = self._text(expr)
        condition = negate(condition) if expr.kind == "all" else condition
        self.found[text] = CopiesWith(group.name, condition, tuple(atoms.items()))
        self.spans[text] = expr.span
        match expr.kind:
            case "count":
                return Name(text)
            case "some":
                return Binary(">=", Name(text), Const(1))
            case "all":
                return equals(Name(text), Const(0))

    def _written_out(self, expr: ast.CopiesWhere, group: Group) -> Expr:
        parts = []
        for number in group.numbers or ():
            copy = self._reader.world.threads.get(group.member(number))
            if copy is None:
                return UNKNOWN
            condition, atoms = self._condition(expr, copy)
            self._reader.also_said(atoms)
            parts.append(condition)
        if expr.kind != "count":
            return Binary("!=", disj(*parts) if expr.kind == "some" else conj(*parts), Const(0))
        total: Expr = Const(0)
        for part in parts:
            one = Binary("!=", part, Const(0))
            total = one if total == Const(0) else Binary("+", total, one)
        return total


def check_presence(condition: Expr, spans: Mapping[str, Span], report: Reporter, what: str) -> None:
    """Report what `what` says that more copies could undo: there is no search for that.

    `condition` is what is looked for, over the names of `spans`, which are numbers of copies.
    """
    try:
        alternatives(condition, spans)
    except AbsenceError as error:
        if error.few:
            _report_absence(error.name, spans[error.name], report, what)
        else:
            example = error.name if error.name.startswith("count") else "count(C at LABEL)"
            message = f"{quote(error.name)} is not compared with a number"
            report.error("RR510", spans[error.name], message, expected=f"a comparison as in `{example} >= 2`")
    except TooManyAlternativesError:
        place = next(iter(spans.values()))
        report.error("RR510", place, "this asks for too many different numbers of copies", hint="ask in several conditions")


def _report_absence(name: str, span: Span, report: Reporter, what: str) -> None:
    if what == "an invariant":
        expected = "an upper bound, as in `count(C at LABEL) <= 1`, `all C: ...` or `!(some C: ...)`"
        message = f"{quote(name)}: an invariant that absent copies violate is {_ABSENCE}"
    else:
        expected = "a lower bound, as in `count(C at LABEL) >= 2`, or `some C: ...`"
        message = f"{quote(name)}: {what} about the absence of copies is {_ABSENCE}"
    report.error("RR509", span, message, expected=expected)
