"""Targets that ask for copies, as alternatives of what the shared part must be and how many copies must be where.

Only what never asks for the absence of a copy is coverability: `count(C at crit) >= 2`, not `count(C at crit) == 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, Unary, conj, disj, names, negate

MOST_ALTERNATIVES: Final = 256
"""Alternatives of a target; more are refused."""

_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class AbsenceError(Exception):
    """A condition asks for the absence of copies, or counts in a way that is not decided. Carries the name of a count, and
    whether it is because it asks for few copies, or because it is no comparison with a number."""

    def __init__(self, name: str, few: bool) -> None:
        super().__init__(name)
        self.name = name
        self.few = few


class TooManyAlternativesError(Exception):
    """A condition has more than `MOST_ALTERNATIVES`."""


@dataclass(frozen=True)
class CopyRequest:
    """One alternative: `shared` is a condition without counts, `copies` are (name of a count, at least so many)."""

    shared: Expr
    copies: tuple[tuple[str, int], ...] = ()


def alternatives(condition: Expr, counts: Iterable[str]) -> tuple[CopyRequest, ...]:
    """Return the alternatives of a condition in which the names of `counts` are numbers of copies.

    Raises AbsenceError for a condition that more copies could make false, TooManyAlternativesError.
    """
    return tuple(_merged(_Reader(frozenset(counts)).read(condition, True)))


def _merged(found: list[CopyRequest]) -> Iterator[CopyRequest]:
    """Join the alternatives that ask for the same copies, and drop those that cannot be."""
    by_copies: dict[tuple[tuple[str, int], ...], list[Expr]] = {}
    for each in found:
        by_copies.setdefault(tuple(sorted(each.copies)), []).append(each.shared)
    for copies, parts in by_copies.items():
        if (shared := disj(*parts)) != FALSE:
            yield CopyRequest(shared, copies)


class _Reader:
    def __init__(self, counts: frozenset[str]) -> None:
        self.counts = counts

    def read(self, expr: Expr, wanted: bool) -> list[CopyRequest]:
        """Return the alternatives of `expr` being true, or false if it is not `wanted`."""
        if not any(name in self.counts for name in names(expr)):
            return [CopyRequest(expr if wanted else negate(expr))]
        match expr:
            case Unary("!", arg):
                return self.read(arg, not wanted)
            case Binary("&&" | "||" as op, left, right):
                parts = self.read(left, wanted), self.read(right, wanted)
                found = _both(*parts) if (op == "&&") is wanted else [*parts[0], *parts[1]]
                if len(found) > MOST_ALTERNATIVES:
                    raise TooManyAlternativesError
                return found
            case Name(name):
                return self._compared(name, ">=" if wanted else "<", 1)
            case Binary(op, Name(name), Const(number)) if op in _NEGATED and name in self.counts:
                return self._compared(name, op if wanted else _NEGATED[op], number)
            case Binary(op, Const(number), Name(name)) if op in _NEGATED and name in self.counts:
                op = _MIRRORED[op]
                return self._compared(name, op if wanted else _NEGATED[op], number)
            case _:
                raise AbsenceError(next(name for name in names(expr) if name in self.counts), few=False)

    def _compared(self, name: str, op: str, number: int) -> list[CopyRequest]:
        """Return the alternatives of a comparison of a count, which is never negative."""
        if op == ">":
            op, number = ">=", number + 1
        if op == "!=" and number == 0:
            op, number = ">=", 1
        if op == ">=" or (op == "!=" and number < 0):
            return [CopyRequest(TRUE) if number <= 0 or op == "!=" else CopyRequest(TRUE, ((name, number),))]
        if number < 0 or (op == "<" and number == 0):
            return []
        raise AbsenceError(name, few=True)


def _both(left: list[CopyRequest], right: list[CopyRequest]) -> list[CopyRequest]:
    found = []
    for a in left:
        for b in right:
            most = dict(a.copies)
            for name, number in b.copies:
                most[name] = max(number, most.get(name, 0))
            found.append(CopyRequest(conj(a.shared, b.shared), tuple(most.items())))
    return found
