"""States that exchanges of like processes map to each other: of those a search keeps one.

An *exchange* is an involution of the control states under which the program is the same: it maps the successors of a state
to the successors of its image, and states in which a target holds to states in which one holds. So a target is reachable
from a state iff one is from its image, and a search may go on from any image of what it has found. It takes the one whose
blocks are sorted (:class:`Arranger`); which one that is does not matter for what is found, only for how many are kept.
The initial state need not be its own image.

With partial-order reduction: where a run to a target is left alone by the commands that are expanded, it goes on from
their successors, and its image from the images of these. Exchanges keep its length, and the numbers by which processes
advance, or these grow on no cycle. So the argument of :mod:`rdma_robust.counters.independence` holds for what is kept.

Source: Ip and Dill 1996; Emerson and Sistla 1996; with partial orders Emerson, Jha and Peled 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rdma_robust.errors import InternalError

State = tuple[int, ...]
"""A control state."""

Codes = tuple[tuple[int, int], ...]
"""Values with what becomes of them; all others stay as they are."""


@dataclass(frozen=True, slots=True)
class FieldPart:
    """Some bits of a field, or (`bits` 0) its value."""

    field: str
    shift: int = 0
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Trade:
    """`one` gets what was in `other`, by `back`, and `other` what was in `one`, by `codes`; they may be the same part.

    Only where every part in `when` had that value.
    """

    one: FieldPart
    other: FieldPart
    codes: Codes = ()
    back: Codes = ()
    when: tuple[tuple[FieldPart, int], ...] = ()


Exchange = tuple[Trade, ...]
"""What happens at once; no part is changed twice."""


@dataclass(frozen=True, slots=True)
class Key:
    """By what blocks are sorted: the value of a part, those in `codes` replaced, others too unless `otherwise` is None."""

    part: FieldPart
    codes: Codes = ()
    otherwise: int | None = None


@dataclass(frozen=True)
class Blocks:
    """Blocks 0, 1, ... of which each two can be exchanged: `exchanges[i, j]` for i < j, and by what block i is sorted.

    All blocks have as many keys, in the same order.
    """

    exchanges: Mapping[tuple[int, int], Exchange]
    keys: tuple[tuple[Key, ...], ...]


class Arranger:
    """Sorts the blocks of control states with these fields: what stands for a state, and the exchanges that lead there."""

    def __init__(self, groups: Iterable[Blocks], fields: Sequence[str]) -> None:
        column = {name: i for i, name in enumerate(fields)}
        self._groups = [
            (
                {pair: _exchange(e, column) for pair, e in group.exchanges.items()},
                [[_key(k, column) for k in keys] for keys in group.keys],
            )
            for group in groups
        ]

    @property
    def exchanges(self) -> list[Callable[[State], State]]:
        """All exchanges."""
        return [exchange for exchanges, _ in self._groups for exchange in exchanges.values()]

    def arranged(self, state: State) -> State:
        """Return the image of the state that is kept."""
        return self.explained(state)[0]

    def explained(self, state: State) -> tuple[State, list[Callable[[State], State]]]:
        """Return the image that is kept, and the exchanges by which it is made, in order."""
        taken = []
        for exchanges, keys in self._groups:
            found = [tuple(key(state) for key in mine) for mine in keys]
            for place in range(len(found) - 1):
                least = min(range(place, len(found)), key=found.__getitem__)
                if least != place:
                    found[place], found[least] = found[least], found[place]
                    state = exchanges[place, least](state)
                    taken.append(exchanges[place, least])
        return state, taken


def real_run(
    kept: Sequence[State],
    arranger: Arranger,
    initial: State,
    successors: Callable[[State], Iterable[tuple[int, State, int]]],
) -> tuple[tuple[int, ...], State]:
    """Return the labels of a run from `initial` that the kept states stand for, and where it ends.

    Each kept state is the arranged successor of the one before it. Along the run the exchanges are collected that lead
    from what is kept to what is there. Raises InternalError if the program is not the same under them.
    """
    _, taken = arranger.explained(initial)
    back = list(reversed(taken))
    here, labels = initial, []
    for before, after in pairwise(kept):
        for _, there, _ in successors(before):
            found, taken = arranger.explained(there)
            if found == after:
                break
        else:
            raise InternalError("a state that was kept has no predecessor")
        for exchange in back:
            there = exchange(there)
        label = next((label for label, to, _ in successors(here) if to == there), None)
        if label is None:
            raise InternalError("the program changes when equal threads are exchanged")
        labels.append(label)
        here, back = there, [*reversed(taken), *back]
    return tuple(labels), here


def _bits(part: FieldPart, column: Mapping[str, int]) -> tuple[int, int, int]:
    return column[part.field], part.shift, (1 << part.bits) - 1 if part.bits else -1


def _exchange(exchange: Exchange, column: Mapping[str, int]) -> Callable[[State], State]:
    trades = [
        (
            *_bits(t.one, column),
            *_bits(t.other, column),
            dict(t.codes),
            dict(t.back),
            [(*_bits(p, column), value) for p, value in t.when],
        )
        for t in exchange
    ]

    def exchanged(state: State) -> State:
        new = list(state)
        for a, at, mask, b, to, other_mask, codes, back, when in trades:
            if any(state[c] >> shift & bits != value for c, shift, bits, value in when):
                continue
            one, other = state[a] >> at & mask, state[b] >> to & other_mask
            new[b] += (codes.get(one, one) - other) << to
            if a != b or at != to:
                new[a] += (back.get(other, other) - one) << at
        return tuple(new)

    return exchanged


def _key(key: Key, column: Mapping[str, int]) -> Callable[[State], int]:
    at, shift, mask = _bits(key.part, column)
    codes, otherwise = dict(key.codes), key.otherwise

    def value(state: State) -> int:
        found = state[at] >> shift & mask
        return codes.get(found, found if otherwise is None else otherwise)

    return value
