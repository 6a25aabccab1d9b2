"""Sorts of values: which variables can hold other values as well, as long as all of one sort change alike.

Two variables are of one sort if a value of one can come into the other, or is compared with it. A sort is *open* if its
values are only copied and compared for equality, with each other or with constants: then a program behaves the same with
other values in their place, if the constants are replaced too. Everything else, arithmetic, order, what is tested for being
non-zero, and what messages carry, makes a sort that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rdma_robust.counters.liveness import MOST_READERS
from rdma_robust.expr import VALUE, Binary, Const, Expr, Ite, Name, Unary, is_value, names
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.event_edge import EventEdge, section_stores
from rdma_robust.robustness.frame import InstrumentationFrame, stores_carried
from rdma_robust.semantics.trace import EventType

Term = Any
"""Nested tuples; ("@", n) is the thing with that number, ("{}", ...) a set."""

Variable = tuple[str, Any]
"""("cell", cell), ("register", name), or ("carried", thread)."""

_CLOSED: Final[Variable] = ("closed", None)
"""Of the sort of all values that mean what they are."""


class Sorts:
    """The sorts of a program's variables. With `forgets`, cells become 0 where nobody reads them any more."""

    def __init__(self, frame: InstrumentationFrame, forgets: bool) -> None:
        self.frame, self.forgets = frame, forgets
        self._parent: dict[Variable, Variable] = {}
        self._readers: dict[Variable, set[int]] = {}
        for e in (e for g in frame.graphs for e in g.edges):
            self._learn(e)
        self._zero = {self.of(v) for v in list(self._parent) if self._is_reset(v)}

    def of(self, variable: Variable) -> Variable:
        """The sort of a variable, by a variable of it."""
        while (parent := self._parent.setdefault(variable, variable)) != variable:
            variable = parent
        return variable

    def is_open(self, sort: Variable) -> bool:
        return sort != self.of(_CLOSED)

    def fixed(self, thing: tuple[Any, ...]) -> int:
        """What keeps a value from being renamed: 1 for a 0 to which variables of its sort are set by the search."""
        return int(thing[0] == "value" and thing[2] == 0 and thing[1] in self._zero)

    def _is_reset(self, variable: Variable) -> bool:
        if variable[0] != "cell":
            return True
        return self.forgets and len(self._readers.get(variable, ())) <= MOST_READERS

    def _join(self, a: Variable, b: Variable) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._parent[a] = b

    def _value(self, e: EventEdge) -> Variable:
        """The variable of which VALUE is the value."""
        if e.type is EventType.RP or e.connection is not None:
            return _CLOSED
        if e.cell is not None and (e.reads or not stores_carried(e)):
            return self._variable_of(e.cell)
        return "carried", e.thread

    def _variable_of(self, cell: Cell) -> Variable:
        return ("cell", cell) if self.frame.bit(cell) else _CLOSED

    def _learn(self, e: EventEdge) -> None:
        if e.section:
            for touched, _, _ in e.accesses:
                self._join(("cell", touched), _CLOSED)
            for x in (e.guard, e.possible, *(v for _, v in e.assigns), *section_stores(e)):
                self._close(x, _CLOSED)
            for register, _ in e.assigns:
                self._join(("register", register), _CLOSED)
            return
        value = self._value(e)
        if e.cell is not None and takes_value(e):
            self._readers.setdefault(("cell", e.cell), set()).add(e.thread)
        for test in (e.guard, e.possible, *(e.rmw[:1] if e.rmw else ())):
            self._test(test, value)
        for register, new in e.assigns:
            self._stored(("register", register), new, value)
        if e.carries and e.reads:
            self._join(("carried", e.thread), value)
        if e.cell is not None and e.writes:
            cell = self._variable_of(e.cell) if e.connection is None else _CLOSED
            if e.connection is not None:
                self._join(("cell", e.cell), _CLOSED)
                self._join(("carried", e.thread), _CLOSED)
            self._stored(cell, VALUE if e.written is None else e.written, value)
            if e.rmw is not None:
                self._stored(cell, e.rmw[1], value)

    def _stored(self, into: Variable, new: Expr, value: Variable) -> None:
        """Learn that a variable gets the value of an expression."""
        if isinstance(new, Const):
            self.of(into)
        elif (source := _atom(new, value)) is not None:
            self._join(into, source)
        else:
            self._join(into, _CLOSED)
            self._close(new, value)

    def _close(self, expr: Expr, value: Variable) -> None:
        for name in names(expr):
            self._join(value if is_value(name) else ("register", name), _CLOSED)

    def _test(self, expr: Expr, value: Variable) -> None:
        """Learn from an expression of which only the truth matters."""
        match expr:
            case Const():
                return
            case Unary("!", arg):
                self._test(arg, value)
            case Binary("&&" | "||", left, right):
                self._test(left, value)
                self._test(right, value)
            case Binary("==" | "!=", left, right) if _is_plain(left) and _is_plain(right):
                sides = [a for side in (left, right) if (a := _atom(side, value)) is not None]
                for a in sides:
                    self._join(sides[0], a)
            case _:
                self._close(expr, value)

    def terms(self, e: EventEdge, of: Callable[[tuple[Any, ...]], Term]) -> Iterator[Term]:
        """Yield terms for what the edge tests and changes; `of` gives the term of a thing."""
        value = self._value(e)
        spell = _Spelling(self, of, value)
        yield spell.test(e.guard)
        yield spell.test(e.possible)
        yield "{}", *((of(("register", r)), spell.stored(("register", r), new)) for r, new in e.assigns)
        cell: Variable = _CLOSED if e.cell is None or e.connection is not None else self._variable_of(e.cell)
        yield None if e.written is None else spell.stored(cell, e.written)
        yield tuple((t.type.value, t.number, None if t.written is None else spell.whole(t.written)) for t in e.section)
        yield None if e.rmw is None else (spell.test(e.rmw[0]), spell.stored(cell, e.rmw[1]))


class _Spelling:
    """Terms of expressions in which VALUE is the value of a variable."""

    def __init__(self, sorts: Sorts, of: Callable[[tuple[Any, ...]], Term], value: Variable) -> None:
        self.sorts, self.of, self.value = sorts, of, value

    def constant(self, variable: Variable | None, value: int) -> Term:
        """A constant that is stored in a variable, or compared with it."""
        sort = self.sorts.of(variable or _CLOSED)
        return self.of(("value", sort, value)) if self.sorts.is_open(sort) else ("constant", value)

    def stored(self, into: Variable, new: Expr) -> Term:
        return self.constant(into, new.value) if isinstance(new, Const) else self.whole(new)

    def test(self, expr: Expr) -> Term:
        match expr:
            case Unary("!", arg):
                return "!", self.test(arg)
            case Binary("&&" | "||" as op, _, _):
                return "{}", op, *map(self.test, _operands(expr, op))
            case Binary("==" | "!=" as op, left, right) if _is_plain(left) and _is_plain(right):
                known = _atom(left, self.value) or _atom(right, self.value)
                return (
                    "{}",
                    op,
                    *(self.constant(known, s.value) if isinstance(s, Const) else self.whole(s) for s in (left, right)),
                )
            case _:
                return self.whole(expr)

    def whole(self, expr: Expr) -> Term:
        """An expression whose constants mean what they are."""
        match expr:
            case Const(value):
                return "constant", value
            case Name(name):
                return name if is_value(name) else self.of(("register", name))
            case Unary(op, arg):
                return op, self.whole(arg)
            case Binary(op, left, right):
                return op, self.whole(left), self.whole(right)
            case Ite(test, then, other):
                return "ite", *map(self.whole, (test, then, other))


def _operands(expr: Expr, op: str) -> Iterator[Expr]:
    """The parts of a conjunction or disjunction of any shape."""
    if isinstance(expr, Binary) and expr.op == op:
        yield from _operands(expr.left, op)
        yield from _operands(expr.right, op)
    else:
        yield expr


def takes_value(e: EventEdge) -> bool:
    """Whether anything depends on the value that the event reads, or that it carries."""
    used = [e.guard, e.possible, *(v for _, v in e.assigns), *(e.rmw or ()), *((e.written,) if e.written else ())]
    return e.carries or any(VALUE.name in names(x) for x in used)


def _is_plain(expr: Expr) -> bool:
    return isinstance(expr, Const | Name)


def _atom(expr: Expr, value: Variable) -> Variable | None:
    """The variable that the expression is, if it is one; VALUE is `value`, and what sections read means what it is."""
    if expr == VALUE:
        return value
    if not isinstance(expr, Name):
        return None
    return _CLOSED if is_value(expr.name) else ("register", expr.name)
