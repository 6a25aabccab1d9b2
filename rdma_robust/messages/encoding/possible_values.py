"""Sets of the numbers that terms can be, where these are few: a least fixed point over what candidates send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final

from rdma_robust.messages.encoding.symbolic_terms import Symbol, SymbolicValue, applied, subterms
from rdma_robust.messages.encoding.unrolled import SendEvent, UnrolledProgram

Few = frozenset[int] | None
"""The numbers that a term can be; None if they are too many, or not known."""

MOST: Final = 64
_ROUNDS: Final = 200
_COMBINATIONS: Final = 4096
_NOTHING: Final[frozenset[int]] = frozenset()
_EITHER: Final = frozenset((0, 1))
_TRUTHS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "!", "&&", "||"})


class TermValues:
    """The sets of all terms that were asked for. `senders` are the candidates of a receive, by its number.

    A set has at most `most` numbers, but one of a received value of which all candidates send constants may have more.

    A term is in its set in every execution in which all receives that it is made of are matched to candidates: induction
    over the execution, as what is sent is made of what was received before.
    """

    def __init__(
        self,
        unrolled: UnrolledProgram,
        senders: Callable[[int], Sequence[SendEvent]],
        most: int = MOST,
        rounds: int = _ROUNDS,
    ) -> None:
        self._unrolled, self._senders = unrolled, senders
        self._most, self._rounds = most, rounds
        self._sets: dict[int, Few] = {}

    def of(self, root: Symbol) -> Few:
        """Return the numbers that `root` can be."""
        if root.constant:
            return frozenset((root.value,))
        if root.number not in self._sets:
            self._solve([root])
        return self._sets[root.number]

    def _solve(self, roots: Iterable[Symbol]) -> None:
        """Find the sets of `roots` and of all that they depend on, across messages."""
        wanted: dict[int, Symbol] = {}
        sources: dict[int, list[Symbol]] = {}
        todo = list(roots)
        while todo:
            for each in subterms([todo.pop()]):
                if each.number not in wanted and each.number not in self._sets and not each.constant:
                    wanted[each.number] = each
                    sources[each.number] = self._sources(each)
                    todo += [source for source in sources[each.number] if not source.constant]
        for number in wanted:
            self._sets[number] = _NOTHING
        order = sorted(wanted)
        for _ in range(self._rounds):
            changed = False
            for number in order:
                new = self._next(wanted[number], sources[number])
                if new != self._sets[number]:
                    self._sets[number], changed = new, True
            if not changed:
                return
        for number in order:
            self._sets[number] = None

    def _sources(self, leaf: Symbol) -> list[Symbol]:
        """Return what a received value or tag is made of."""
        if leaf.op == "tag":
            return list({each.tag.number: each.tag for each in self._senders(leaf.value)}.values())
        if leaf.op == "value":
            found = (component(each.value, leaf.path) for each in self._senders(leaf.value))
            return list({each.number: each for each in found if each is not None}.values())
        return []

    def _next(self, symbol: Symbol, sources: list[Symbol]) -> Few:
        match symbol.op:
            case "choice":
                return frozenset(range(self._unrolled.choices[symbol.value].options))
            case "seen":
                return None
            case "expected":
                return _EITHER
            case "sender":
                return self._small({each.process for each in self._senders(symbol.value)})
            case "value" | "tag":
                if all(each.constant for each in sources):
                    return frozenset([each.value for each in sources])
                return self._union([self._known(each) for each in sources])
            case _:
                return self._operator(symbol, [self._known(each) for each in symbol.operands])

    def _known(self, symbol: Symbol) -> Few:
        return frozenset((symbol.value,)) if symbol.constant else self._sets[symbol.number]

    def _union(self, sets: list[Few]) -> Few:
        found: set[int] = set()
        for each in sets:
            if each is None:
                return None
            found |= each
        return self._small(found)

    def _operator(self, symbol: Symbol, operands: list[Few]) -> Few:
        if symbol.op == "?":
            test, a, b = operands
            taken = [a] if test is None or test - {0} else []
            return self._union([*taken, *([b] if test is None or 0 in test else [])])
        if any(each is not None and not each for each in operands):
            return _NOTHING
        if symbol.op in _TRUTHS and any(each is None or len(each) > self._most for each in operands):
            return _EITHER
        sets = [each for each in operands if each is not None]
        count = 1
        for each in sets:
            count *= len(each)
        if len(sets) < len(operands) or count > max(_COMBINATIONS, self._most):
            return _EITHER if symbol.op in _TRUTHS else None
        return self._small({applied(symbol.op, list(values)) for values in product(*sets)})

    def _small(self, found: set[int]) -> Few:
        return frozenset(found) if len(found) <= self._most else None


def component(value: SymbolicValue, path: tuple[int, ...]) -> Symbol | None:
    """Return the number at a place of a value, None if there is none."""
    for index in path:
        if not isinstance(value, tuple) or index >= len(value):
            return None
        value = value[index]
    return value if isinstance(value, Symbol) else None
