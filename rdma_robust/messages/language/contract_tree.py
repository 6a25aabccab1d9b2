"""The syntax tree of contracts: what was written, not yet what it means.

Numbers, operators, `PID`, `NPROCS` and what looks like a call are the nodes of :mod:`message_tree`; here is the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.syntax import ast


@dataclass(frozen=True, slots=True)
class NameTerm:
    """A name: of a parameter, a register declared outside, a constant, or of a `\\let` or `\\forall` around it."""

    name: ast.Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CellTerm:
    """`array[index]`."""

    array: object
    index: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ResultWord:
    """`\\result`."""

    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Position:
    """`\\i` or `\\j`: the index of the element that `bounds` is about."""

    name: Literal["i", "j"]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AtProcess:
    """`\\on(process, value)`."""

    process: object
    value: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AtEntry:
    """`\\pre(value)` or, with the other `word`, `\\old(value)`."""

    value: object
    word: Literal["\\pre", "\\old"] = "\\pre"
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AgreeTerm:
    """`\\agree(value)`."""

    value: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class LetIn:
    """`\\let name = value : inner`."""

    name: ast.Ident
    value: object
    inner: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class OverRange:
    """`\\forall name in low..high : inner`; `word` is one of those that begin it, without the backslash.

    Without a range (`\\forall name; inner`) it is over all processes, and `low` and `high` are None. `type` is what C has
    before the name.
    """

    word: Literal["forall", "exists", "sum", "count", "max", "min"]
    name: ast.Ident
    low: object
    high: object
    inner: object
    span: Span = field(default=NO_SPAN, compare=False)
    type: ast.Ident | None = None


@dataclass(frozen=True, slots=True)
class ExtremeTerm:
    """`\\max(a, b, ...)` or `\\min(a, b, ...)`."""

    word: Literal["max", "min"]
    arguments: tuple[object, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ComparisonChain:
    """`a <= b < c`: three or more `operands` with comparisons between them, all of which have to be true."""

    operands: tuple[object, ...]
    operators: tuple[str, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? then : other`."""

    test: object
    then: object
    other: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class SetOf:
    """Processes: `low`, `low..high`, `\\all` or `\\others`."""

    word: Literal["", "all", "others"] = ""
    low: object = None
    high: object = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class EventOf:
    """`\\enter(...)`, `\\exit(...)` or `\\send(...)`."""

    word: Literal["enter", "exit", "send"]
    arguments: tuple[SetOf, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AbsenceClause:
    """`\\no what \\after after \\until until`."""

    what: EventOf
    after: EventOf
    until: EventOf
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ConditionClause:
    """A word and an expression; in `requires` and `ensures` also long forms of path clauses, `if` a condition."""

    word: Literal["requires", "ensures", "assumes", "invariant", "decreases"]
    value: object
    condition: object = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Behaviors:
    """`complete behaviors names` or `disjoint behaviors names`; without names all of them."""

    word: Literal["complete", "disjoint"]
    names: tuple[ast.Ident, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CellsOf:
    """A register, `name[low]` or `name[low..high]` in `assigns`."""

    name: ast.Ident
    low: object = None
    high: object = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AssignsLine:
    """`assigns`; nothing if there are no `cells`."""

    cells: tuple[CellsOf, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Lengths:
    """`len low..high`."""

    low: object
    high: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class BoundsLine:
    """`bounds name len ... in low..high`; behind lengths `in` can be left out, and then `low` and `high` are None."""

    name: ast.Ident
    lengths: tuple[Lengths, ...]
    low: object = None
    high: object = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class WaitsForClause:
    """`waitsfor who if condition`."""

    who: SetOf
    condition: object = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Quiet:
    """`quiet to who until until`, or without `until` `quiet from who`; then `on`, `tag` and `if`."""

    who: SetOf
    port: ast.Ident | None = None
    tag: object = None
    until: SetOf | None = None
    condition: object = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class BehaviorHead:
    """`behavior name:`; the clauses behind it, up to the next one, are its."""

    name: ast.Ident
    span: Span = field(default=NO_SPAN, compare=False)


Part = ConditionClause | Behaviors | AssignsLine | BoundsLine | WaitsForClause | Quiet | BehaviorHead | ast.BrokenStatement


@dataclass(frozen=True, slots=True)
class ContractText:
    """A contract as it is written; that of a loop has a `name`."""

    kind: Literal["collective", "local", "loop"]
    parts: tuple[Part, ...]
    span: Span = field(default=NO_SPAN, compare=False)
    name: ast.Ident | None = None


_NO_PARTS: Final = frozenset({"kind", "name", "names", "operators", "port", "span", "type", "word"})
"""Fields with words and names."""


def spec_parts(node: Any) -> tuple[object, ...]:
    """Return what is directly inside of a part of a contract or of an expression that only contracts have."""
    if type(node).__module__ != __name__:
        return ()
    found: list[object] = []
    for name in node.__match_args__:
        value = None if name in _NO_PARTS else getattr(node, name)
        found += value if isinstance(value, tuple) else (value,)
    return tuple(found)
