"""Numbers as sums over receives: what each receive adds depends on the send that it takes, and on nothing else.

`constant + sum of parts[R][j]`, where R takes the j-th send of its endpoint. Sums, counts and what one receive gets are
such; largest and smallest of several are kept apart. What is neither is None: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rdma_robust.expr import COMPARISONS
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths
from rdma_robust.messages.encoding.possible_values import component
from rdma_robust.messages.encoding.symbolic_terms import Symbol, applied, subterms

Amounts = npt.NDArray[np.int64]
"""What a receive adds, for each send of its endpoint; 0 for those that are no candidates."""

LARGEST: Final = 2**40
"""Numbers beyond that are not followed, so that sums of a million stay exact in 64 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class ReceiveSum:
    """A sum; `parts` by the numbers of receives. No number in it is larger than LARGEST."""

    constant: int
    parts: Mapping[int, Amounts]

    def plus(self, other: ReceiveSum, factor: int = 1) -> ReceiveSum | None:
        """Return `self + factor * other`, None if that is too large."""
        if abs(factor) > 1 and abs(factor) * max([abs(other.constant), *map(_biggest, other.parts.values())]) > LARGEST:
            return None
        made = dict(self.parts)
        for receive, amounts in other.parts.items():
            mine = made.get(receive)
            if mine is amounts and factor == -1:
                del made[receive]
                continue
            made[receive] = new = factor * amounts if mine is None else mine + factor * amounts
            if _biggest(new) > LARGEST:
                return None
        constant = self.constant + factor * other.constant
        return ReceiveSum(constant, made) if abs(constant) <= LARGEST else None

    def times(self, factor: int) -> ReceiveSum | None:
        return ReceiveSum(0, {}).plus(self, factor)


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeSum:
    """The largest of several sums, or the smallest."""

    largest: bool
    of: tuple[ReceiveSum, ...]


Known = ReceiveSum | ExtremeSum | None


def _small(form: ReceiveSum) -> ReceiveSum | None:
    """Return a sum whose numbers are not too large. Operands are not, so nothing has overflowed yet."""
    small = abs(form.constant) <= LARGEST and all(_biggest(each) <= LARGEST for each in form.parts.values())
    return form if small else None


def _biggest(amounts: Amounts) -> int:
    return int(abs(amounts).max()) if len(amounts) else 0


class ReceiveSums:
    """The sums that terms of one unrolled program are. `endpoint` says where a receive is: its endpoint and row."""

    def __init__(self, endpoints: Sequence[EndpointPairs]) -> None:
        self.endpoint = {each.number: (pairs, row) for pairs in endpoints for row, each in enumerate(pairs.receives)}
        self._known: dict[int, Known] = {}
        self._columns: dict[tuple[int, str, tuple[int, ...]], tuple[Amounts, Truths]] = {}

    def of(self, symbol: Symbol) -> Known:
        """Return what a term is."""
        if symbol.number not in self._known:
            for each in subterms([symbol]):
                if each.number not in self._known:
                    self._known[each.number] = self._made(each)
        return self._known[symbol.number]

    def _made(self, symbol: Symbol) -> Known:
        if symbol.constant:
            return ReceiveSum(symbol.value, {}) if abs(symbol.value) <= LARGEST else None
        if symbol.op in ("value", "sender", "tag"):
            return self._leaf(symbol)
        if symbol.op == "choice":
            return None
        known = [self._known[each.number] for each in symbol.operands]
        forms = [each for each in known if isinstance(each, ReceiveSum)]
        if len(forms) == len(known):
            single = _of_one_receive(symbol.op, forms)
            if single is not None:
                return single
        match symbol.op, known:
            case "+", [ReceiveSum() as a, ReceiveSum() as b]:
                return a.plus(b)
            case "-", [ReceiveSum() as a, ReceiveSum() as b]:
                return a.plus(b, -1)
            case "-", [ReceiveSum() as a]:
                return a.times(-1)
            case "*", [ReceiveSum(factor, {}), ReceiveSum() as a]:
                return a.times(factor)
            case "*", [ReceiveSum() as a, ReceiveSum(factor, {})]:
                return a.times(factor)
            case "?", _:
                return self._branch(symbol, known)
        return None

    def _leaf(self, leaf: Symbol) -> ReceiveSum | None:
        if leaf.value not in self.endpoint:
            return None
        pairs, row = self.endpoint[leaf.value]
        key = (id(pairs), leaf.op, leaf.path)
        if key not in self._columns:
            self._columns[key] = _columns(pairs, leaf)
        amounts, known = self._columns[key]
        possible = pairs.possible[row]
        return ReceiveSum(0, {leaf.value: np.where(possible, amounts, 0)}) if known[possible].all() else None

    def _branch(self, symbol: Symbol, known: Sequence[Known]) -> Known:
        """Return what `test ? a : b` is: the larger or smaller of two, or b and more where a test of one receive holds."""
        test, a, b = known
        compared = symbol.operands[0]
        if compared.op in ("<", "<=", ">", ">=") and {each.number for each in compared.operands} == {
            each.number for each in symbol.operands[1:]
        }:
            largest = (compared.op in (">", ">=")) is (compared.operands[0] is symbol.operands[1])
            return _extreme(largest, a, b)
        if (
            not (isinstance(test, ReceiveSum) and isinstance(a, ReceiveSum) and isinstance(b, ReceiveSum))
            or len(test.parts) != 1
        ):
            return None
        (receive, tested), *_ = test.parts.items()
        more = a.plus(b, -1)
        if more is None:
            return None
        amounts = more.constant + more.parts.get(receive, np.zeros_like(tested))
        for other, added in more.parts.items():
            if other != receive:
                pairs, row = self.endpoint[other]
                same = np.unique(added[pairs.possible[row]])
                if len(same) != 1:
                    return None
                amounts = amounts + same[0]
        if _biggest(amounts) > LARGEST:
            return None
        return b.plus(ReceiveSum(0, {receive: np.where(tested + test.constant != 0, amounts, 0)}))


def _columns(pairs: EndpointPairs, leaf: Symbol) -> tuple[Amounts, Truths]:
    """Return what any receive of an endpoint gets from each send, and of which sends that is known."""
    amounts, known = np.zeros(len(pairs.sends), np.int64), np.zeros(len(pairs.sends), np.bool_)
    for column, send in enumerate(pairs.sends):
        part = send.tag if leaf.op == "tag" else component(send.value, leaf.path)
        if leaf.op == "sender":
            amounts[column], known[column] = send.process, True
        elif part is not None and part.constant and abs(part.value) <= LARGEST:
            amounts[column], known[column] = part.value, True
    return amounts, known


def _of_one_receive(op: str, forms: Sequence[ReceiveSum]) -> ReceiveSum | None:
    """Return what an operator makes of numbers that depend on one receive alone, None if it is not so."""
    receives = {receive for form in forms for receive in form.parts}
    if len(receives) != 1:
        return None
    (receive,) = receives
    size = next(len(form.parts[receive]) for form in forms if receive in form.parts)
    zeros = np.zeros(size, np.int64)
    values = [form.constant + form.parts.get(receive, zeros) for form in forms]
    if op in COMPARISONS:
        made = COMPARISONS[op](values[0], values[1]).astype(np.int64)
    elif op in ("+", "-") and len(values) == 2:
        made = values[0] + values[1] if op == "+" else values[0] - values[1]
    else:
        each = [applied(op, list(at)) for at in zip(*[of.tolist() for of in values], strict=True)]
        if any(abs(value) > LARGEST for value in each):
            return None
        made = np.array(each, np.int64)
    return _small(ReceiveSum(0, {receive: made}))


def _extreme(largest: bool, a: Known, b: Known) -> ExtremeSum | None:
    made: list[ReceiveSum] = []
    for each in (a, b):
        if isinstance(each, ReceiveSum):
            made.append(each)
        elif isinstance(each, ExtremeSum) and each.largest is largest:
            made += each.of
        else:
            return None
    return ExtremeSum(largest, tuple(made))
