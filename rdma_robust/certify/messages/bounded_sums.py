"""Assertions about sums of what is received: no assignment of different sends to the receives makes them false.

Receives that were waited for have taken different sends. Numbers u(R) and w(S), the *multipliers*, with u(R) + w(S) at least
what R adds if it takes S, bound the sum by theirs, if no w is negative or all sends that can be taken are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.unfolded_terms import COMPARED, TermNode, implied_truth
from rdma_robust.certify.messages.unfolding import ClaimMark, WaitingProcess

OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(slots=True)
class Sum:
    """`constant` and so many times what each receive gets."""

    constant: int = 0
    times: dict[int, int] = field(default_factory=dict)

    def negative(self) -> Sum:
        return Sum(-self.constant, {each: -count for each, count in self.times.items()})


@dataclass(frozen=True, slots=True)
class SumMultipliers:
    """Of the receives of a sum and of all sends that they may take, each in the order of their numbers."""

    receives: tuple[int, ...]
    sends: tuple[int, ...]


def sum_of(node: TermNode) -> Sum | None:
    """Return a term as a sum of what receives get, None if it is none."""
    found = Sum()
    todo = [(node, 1)]
    while todo:
        each, times = todo.pop()
        match each.op:
            case "const":
                found.constant += times * each.number
            case "got" if each.part == "value":
                found.times[each.number] = found.times.get(each.number, 0) + times
            case "+" | "-":
                first, second = each.operands
                todo += [(first, times), (second, times if each.op == "+" else -times)]
            case "*" if any(operand.known for operand in each.operands):
                known, other = sorted(each.operands, key=lambda operand: not operand.known)
                todo.append((other, times * known.number))
            case _:
                return None
    found.times = {each: count for each, count in found.times.items() if count}
    return found


def summands(mark: ClaimMark) -> Iterator[tuple[Sum, str]]:
    """Yield sums and how each compares with 0 where an assertion is false."""
    for each in mark.guard.operands if mark.guard.op == "and" else (mark.guard,):
        truth = each.operands[0] if each.op == "not" else each
        if truth.op in COMPARED:
            ours, theirs = (sum_of(operand) for operand in truth.operands)
            if ours is not None and theirs is not None:
                times = {got: ours.times.get(got, 0) - theirs.times.get(got, 0) for got in {*ours.times, *theirs.times}}
                difference = Sum(ours.constant - theirs.constant, {got: count for got, count in times.items() if count})
                yield difference, truth.op if truth is each else OPPOSITE[truth.op]


class SumBounds:
    """Bounds of the sums of one formula."""

    def __init__(self, formula: MatchFormula) -> None:
        self._formula = formula

    def waited(self, mark: ClaimMark, of: Sum) -> bool:
        """Return whether all receives of a sum are matched where an assertion is reached."""
        found = set()
        for event in self._formula.unfolded.events[mark.process][: mark.place]:
            if isinstance(event, WaitingProcess) and event.kind == "receive" and implied_truth(mark.guard, event.guard):
                found.add(event.number)
        return set(of.times) <= found

    def sends(self, of: Sum) -> list[int]:
        """Return all sends that receives of a sum may take."""
        return sorted({send for receive in of.times for send in self._formula.senders[receive]})

    def amount(self, of: Sum, receive: int, send: int) -> int | None:
        """Return the most that a receive adds if it takes a send, None if anything."""
        values = self._formula.values.of(self._formula.unfolded.sends[send].value)
        return None if values is None else max((of.times[receive] * each for each in values), default=0)

    def most(self, of: Sum, multipliers: SumMultipliers) -> int | None:
        """Return the bound that multipliers prove, None if they prove none."""
        receives, sends = sorted(of.times), self.sends(of)
        if (len(receives), len(sends)) != (len(multipliers.receives), len(multipliers.sends)):
            return None
        if len(sends) != len(receives) and min(multipliers.sends, default=0) < 0:
            return None
        ours: Mapping[int, int] = dict(zip(receives, multipliers.receives, strict=True))
        theirs: Mapping[int, int] = dict(zip(sends, multipliers.sends, strict=True))
        for receive in receives:
            for send in self._formula.senders[receive]:
                amount = self.amount(of, receive, send)
                if amount is None or amount > ours[receive] + theirs[send]:
                    return None
        return of.constant + sum(multipliers.receives) + sum(multipliers.sends)

    def excluded(self, mark: ClaimMark, multipliers: Sequence[SumMultipliers]) -> bool:
        """Return whether an assertion cannot be false by the bounds of a sum and of its negative, in this order."""
        if mark.kind != "assert" or len(multipliers) != 2:
            return False
        for of, op in summands(mark):
            if not self.waited(mark, of):
                continue
            most, least = self.most(of, multipliers[0]), self.most(of.negative(), multipliers[1])
            if sum_refuted(op, most, None if least is None else -least):
                return True
        return False


def sum_refuted(op: str, most: int | None, least: int | None) -> bool:
    """Return whether nothing from `least` to `most` compares with 0 like this; None is no bound."""
    above, below = least is not None and least > 0, most is not None and most < 0
    match op:
        case "==":
            return above or below
        case "!=":
            return most is not None and least is not None and most <= 0 <= least
        case "<" | "<=":
            return above or (op == "<" and least is not None and least >= 0)
        case _:
            return below or (op == ">" and most is not None and most <= 0)
