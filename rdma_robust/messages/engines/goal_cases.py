"""When a truth holds, as cases: in each some receives may take only some sends, and some sums are so large.

The cases are all there are, and some more where a truth is none that sums say: they are a relaxation, exact only where all
of it is understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import Truths
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.engines.receive_forms import Extreme, Form, Known, ReceiveForms

_OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_MOST_CASES: Final = 2_000
_DEPTH: Final = 40


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Receive R takes one of `allowed[R]`, and each sum compares with 0 as it says; `exact`: nothing is left out."""

    allowed: dict[int, Truths] = field(default_factory=dict)
    sums: tuple[tuple[Form, str], ...] = ()
    exact: bool = True

    def and_(self, other: Case) -> Case | None:
        """Return where both hold, None if some receive is left nothing."""
        allowed = dict(self.allowed)
        for receive, mask in other.allowed.items():
            allowed[receive] = allowed[receive] & mask if receive in allowed else mask
            if not allowed[receive].any():
                return None
        return Case(allowed, self.sums + other.sums, self.exact and other.exact)


Cases = list[Case]


class GoalCases:
    """Makes cases of truths, given what terms are as sums."""

    def __init__(self, forms: ReceiveForms) -> None:
        self._forms = forms

    def of(self, truths: Sequence[tuple[Symbol, bool]], depth: int = _DEPTH) -> Cases:
        """Return the cases in which all of these truths are as they are said to be."""
        done: Cases = [Case()]
        for symbol, positive in _flattened(truths, joining="&&"):
            found = self._one(symbol, positive, depth)
            done = _both(done, found)
            if not done:
                break
        return done

    def _one(self, symbol: Symbol, positive: bool, depth: int) -> Cases:
        if symbol.op in ("&&", "||"):
            if not depth:
                return [Case(exact=False)]
            each = _flattened([(symbol, positive)], joining="||")
            return _limited(case for one in each for case in self.of([one], depth - 1))
        if symbol.op in _OPPOSITE:
            op = symbol.op if positive else _OPPOSITE[symbol.op]
            a, b = [self._forms.of(each) for each in symbol.operands]
            if isinstance(a, Form) and isinstance(b, Extreme):
                a, b, op = b, a, _MIRRORED[op]
            return self._compared(a, op, b)
        return self._compared(self._forms.of(symbol), "!=" if positive else "==", Form(0, {}))

    def _compared(self, a: Known, op: str, b: Known) -> Cases:
        if not isinstance(b, Form) or a is None:
            return [Case(exact=False)]
        if isinstance(a, Form):
            return self._sum(a.plus(b, -1), op)
        differences = [each.plus(b, -1) for each in a.of]
        if op == "!=":
            return [*self._extreme(a.largest, differences, "<"), *self._extreme(a.largest, differences, ">")]
        if op == "==":
            return _both(self._extreme(a.largest, differences, "<="), self._extreme(a.largest, differences, ">="))
        return self._extreme(a.largest, differences, op)

    def _extreme(self, largest: bool, of: Sequence[Form | None], op: str) -> Cases:
        """Return where the largest, or smallest, of several compares with 0 as said: all of them do, or one does."""
        each = [self._sum(form, op) for form in of]
        if largest is (op in (">", ">=")):
            return _limited(case for cases in each for case in cases)
        found: Cases = [Case()]
        for cases in each:
            found = _both(found, cases)
        return found

    def _sum(self, form: Form | None, op: str) -> Cases:
        """Return the cases in which a sum compares with 0 as said."""
        if form is None:
            return [Case(exact=False)]
        if not form.parts:
            return [Case()] if _holds(np.array([form.constant]), op)[0] else []
        if len(form.parts) == 1:
            ((receive, amounts),) = form.parts.items()
            mask = np.asarray(_holds(amounts + form.constant, op) & self._possible(receive))
            return [Case({receive: mask})] if mask.any() else []
        if op == "!=":
            return [Case(sums=((form, "<"),)), Case(sums=((form, ">"),))]
        if op == "==" and len(form.parts) == 2:
            return _limited(self._equal(form))
        return [Case(sums=((form, op),))]

    def _equal(self, form: Form) -> Iterator[Case]:
        """Yield the cases in which two receives add what makes 0, one for each amount."""
        (first, a), (second, b) = form.parts.items()
        here, there = self._possible(first), self._possible(second)
        same = self._forms.endpoint[first][0] is self._forms.endpoint[second][0]
        wanted = -form.constant - b
        if same and (here == there).all() and (a == wanted)[here].all() and len(set(a[here].tolist())) == here.sum():
            return
        for amount in sorted(set(a[here].tolist()) & set(wanted[there].tolist())):
            ours, theirs = (a == amount) & here, (wanted == amount) & there
            if not (same and ours.sum() == 1 and (ours == theirs).all()):
                yield Case({first: ours, second: theirs})

    def _possible(self, receive: int) -> Truths:
        pairs, row = self._forms.endpoint[receive]
        return np.asarray(pairs.possible[row])


def _flattened(truths: Sequence[tuple[Symbol, bool]], joining: str) -> list[tuple[Symbol, bool]]:
    """Return truths as the operands of one conjunction, or disjunction, without `!`."""
    found, todo = [], list(truths)
    while todo:
        symbol, positive = todo.pop()
        if symbol.op == "!":
            todo.append((symbol.operands[0], not positive))
        elif symbol.op in ("&&", "||") and (symbol.op == joining) is positive:
            todo += [(each, positive) for each in symbol.operands]
        else:
            found.append((symbol, positive))
    return found


def _both(a: Cases, b: Cases) -> Cases:
    if len(a) * len(b) > _MOST_CASES:
        return [replace(each, exact=False) for each in a]
    return [both for one in a for other in b if (both := one.and_(other)) is not None]


def _limited(cases: Iterator[Case]) -> Cases:
    found = []
    for case in cases:
        found.append(case)
        if len(found) > _MOST_CASES:
            return [Case(exact=False)]
    return found


def _holds(amounts: np.ndarray[tuple[int], np.dtype[np.int64]], op: str) -> Truths:
    match op:
        case "==":
            return np.asarray(amounts == 0)
        case "!=":
            return np.asarray(amounts != 0)
        case "<":
            return np.asarray(amounts < 0)
        case "<=":
            return np.asarray(amounts <= 0)
        case ">":
            return np.asarray(amounts > 0)
        case _:
            return np.asarray(amounts >= 0)
