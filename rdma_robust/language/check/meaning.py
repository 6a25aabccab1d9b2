"""When a resolved expression has a value: definedness, ranges, and whether it reads at all.

Conditions on copies: `count(C at L) >= 2`, `some C: r == 1`, `all C: r <= 3`.

Where it is given how many copies there are, they are written out. Where there is any number, `count` becomes a name that
stands for a number, `some` is `count >= 1`, and `all` is that `count` of those without the condition is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from rdma_robust.diagnose import Hint, Reporter, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.expr import (
    COMPARISONS,
    FALSE,
    OPERATORS,
    TRUE,
    VALUE,
    Binary,
    Const,
    Expr,
    Ite,
    Name,
    Unary,
    conj,
    disj,
    equals,
    is_boolean,
    names,
    negate,
    substitute,
)
from rdma_robust.language.check.names import Group, ProgramNames, ThreadNames, declared
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.flow.claims import CopiesWith, EndedAtom, PointAt
from rdma_robust.language.flow.copies import AbsenceError, TooManyAlternativesError, alternatives
from rdma_robust.language.syntax import ast


def divides_by_no_zero(expr: Expr) -> Expr:
    """Return when evaluating `expr` divides by no zero; `&&` and `||` evaluate their right side only when needed."""
    match expr:
        case Const() | Name():
            return TRUE
        case Unary(_, arg):
            return divides_by_no_zero(arg)
        case Binary("&&", left, right):
            return conj(divides_by_no_zero(left), disj(negate(left), divides_by_no_zero(right)))
        case Binary("||", left, right):
            return conj(divides_by_no_zero(left), disj(left, divides_by_no_zero(right)))
        case Binary("/" | "%", left, right):
            nonzero: Expr = Const(int(right.value != 0)) if isinstance(right, Const) else Binary("!=", right, Const(0))
            return conj(divides_by_no_zero(left), divides_by_no_zero(right), nonzero)
        case Binary(_, left, right):
            return conj(divides_by_no_zero(left), divides_by_no_zero(right))
        case Ite():
            raise AssertionError("source programs have no Ite")


def needs_value(expr: Expr) -> Expr:
    """Return when evaluating `expr` needs VALUE, over registers only; safe to evaluate even where `expr` is undefined."""
    return without_value(_reads(expr))


def _reads(expr: Expr) -> Expr:
    match expr:
        case Const():
            return FALSE
        case Name():
            return TRUE if expr == VALUE else FALSE
        case Unary(_, arg):
            return _reads(arg)
        case Binary("&&", left, right):
            return disj(_reads(left), _if_reached(conj(divides_by_no_zero(left), left), _reads(right)))
        case Binary("||", left, right):
            return disj(_reads(left), _if_reached(conj(divides_by_no_zero(left), negate(left)), _reads(right)))
        case Binary(_, left, right):
            return disj(_reads(left), _reads(right))
        case Ite():
            raise AssertionError("source programs have no Ite")


def _always_reads(expr: Expr) -> bool:
    """Whether evaluating `expr` needs VALUE whatever registers hold: :func:`_reads` is true, told without building it."""
    match expr:
        case Unary(_, arg):
            return _always_reads(arg)
        case Binary("&&" | "||" as op, left, right):
            goes_on = isinstance(left, Const) and bool(left.value) == (op == "&&")
            return _always_reads(left) or (goes_on and _always_reads(right))
        case Binary(_, left, right):
            return _always_reads(left) or _always_reads(right)
        case _:
            return expr == VALUE


def _if_reached(condition: Expr, then: Expr) -> Expr:
    return FALSE if then == FALSE else conj(condition, then)


def where_needed(expr: Expr, needed: Expr) -> Expr:
    """Return `expr` without the part that says when it needs VALUE; the same value where it does, which `needed` says."""
    match expr:
        case Binary("&&", left, right) if left == needed:
            return _truth(right)
        case Binary("||", left, right) if negate(left) == needed:
            return _truth(right)
        case _:
            return expr


def _truth(expr: Expr) -> Expr:
    return expr if is_boolean(expr) else Binary("!=", expr, Const(0))


def where_spared(expr: Expr) -> Expr:
    """Return `expr` without VALUE; the same value where it is defined and does not need it."""
    match expr:
        case Unary("!", arg):
            return negate(where_spared(arg))
        case Binary("&&" | "||" as op, _, right) if _always_reads(right):
            return TRUE if op == "||" else FALSE
        case Binary("&&" | "||" as op, left, right):
            join = conj if op == "&&" else disj
            return _truth(join(where_spared(left), where_spared(right)))
        case Binary(op, left, right):
            return _simplified(Binary(op, where_spared(left), where_spared(right)))
        case _:
            return without_value(expr)


def without_value(expr: Expr) -> Expr:
    """Return `expr` with 0 for VALUE, simplified; the same value wherever `expr` is defined and does not need it."""
    return _simplified(substitute(expr, {VALUE.name: Const(0)}))


def _simplified(expr: Expr) -> Expr:
    match expr:
        case Unary("!", arg):
            return negate(_simplified(arg))
        case Binary(op, left, right):
            left, right = _simplified(left), _simplified(right)
            if op == "&&" and FALSE in (left, right):
                return FALSE
            if op in COMPARISONS and isinstance(left, Const) and isinstance(right, Const):
                return Const(OPERATORS[op](left.value, right.value))
            return Binary(op, left, right)
        case _:
            return expr


def uses_value(*exprs: Expr) -> bool:
    """Whether any of `exprs` mentions VALUE."""
    return any(VALUE.name in names(expr) for expr in exprs)


def within_bounds(low: int, expr: Expr, high: int) -> Expr:
    """Return `low <= expr && expr <= high`, simplified for constants."""
    if isinstance(expr, Const):
        return Const(int(low <= expr.value <= high))
    return Binary("&&", Binary("<=", Const(low), expr), Binary("<=", expr, Const(high)))


def in_domain(expr: Expr, domain: tuple[int, int] | None) -> Expr:
    """Return when the value of `expr` may be kept: copies always may."""
    if domain is None or isinstance(expr, Name):
        return TRUE
    if isinstance(expr, Const) or not is_boolean(expr):
        return within_bounds(domain[0], expr, domain[1])
    false, true = (domain[0] <= value <= domain[1] for value in (0, 1))
    return Const(int(true)) if true == false else expr if true else negate(expr)


def wrapped(expr: Expr, domain: tuple[int, int]) -> Expr:
    """Return the value in `domain` that `expr` is, counted on from one end of the domain to the other.

    That is lo + (expr - lo) mod n for the n values from lo on, where our `%` has the sign of its left side as in C.
    """
    low, high = domain
    size = Const(high - low + 1)
    offset = expr if low == 0 else Binary("-", expr, Const(low))
    rest = Binary("%", Binary("+", Binary("%", offset, size), size), size)
    return rest if low == 0 else Binary("+", rest, Const(low))


def is_wrapped(expr: Expr, domain: tuple[int, int]) -> bool:
    """Whether `expr` is such a value, so that it is in `domain` whatever it is calculated from."""
    match expr:
        case Binary("+", Binary("%", inner), Const()) | Binary("%", inner):
            pass
        case _:
            return False
    match inner:
        case Binary("+", Binary("%", offset), Const()):
            pass
        case _:
            return False
    if domain[0] != 0:
        if not isinstance(offset, Binary):
            return False
        offset = offset.left
    return wrapped(offset, domain) == expr


_ABSENCE: Final = "not decided for any number of them, since what some copies reach, they reach beside more"


class StateReader(Protocol):
    """A reader that resolves conditions on states, and knows of which copy a condition is."""

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
