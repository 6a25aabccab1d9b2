"""Tables by which the compiled search sorts the blocks of packed states: groups of blocks as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rdma_robust.counters.kernel.packing import Packing, Range, UnsupportedError
from rdma_robust.counters.permutations import Blocks, Codes, FieldPart, Key, Trade

_WORD = 64


@dataclass
class ArrangeTables:
    """The arguments of :class:`~rdma_robust.counters.kernel._arrange.Arrange`, but the words of a record."""

    packing: Packing
    column: Mapping[str, int]
    most: int = 1
    groups: array[int] = field(default_factory=lambda: array("q"))
    pairs: array[int] = field(default_factory=lambda: array("q"))
    trades: array[int] = field(default_factory=lambda: array("q"))
    codes: array[int] = field(default_factory=lambda: array("q"))
    whens: array[int] = field(default_factory=lambda: array("q"))
    keys: array[int] = field(default_factory=lambda: array("q"))
    _trades: int = 0

    def arguments(self) -> tuple[int, array[int], array[int], array[int], array[int], array[int], array[int]]:
        return self.most, self.groups, self.pairs, self.trades, self.codes, self.whens, self.keys

    def add(self, blocks: Blocks) -> None:
        size, each = len(blocks.keys), len(blocks.keys[0])
        places, words = self._places(blocks.keys)
        self.groups.extend((size, words, len(self.pairs) // 2, len(self.keys) // 8, each))
        self.most = max(self.most, size * words)
        for i in range(size):
            for j in range(size):
                first = self._trades
                for trade in blocks.exchanges.get((i, j), ()):
                    self._trade(trade)
                self.pairs.extend((first, self._trades))
        for mine in blocks.keys:
            for key, (word, shift) in zip(mine, places, strict=True):
                otherwise = -1 if key.otherwise is None else key.otherwise
                codes = self._codes(key.codes, key.part, None if key.otherwise is not None else key.part)
                self.keys.extend((*self._where(key.part), *codes, otherwise, word, shift))

    def _places(self, keys: Sequence[Sequence[Key]]) -> tuple[list[tuple[int, int]], int]:
        """Where the values of each key go, the first one highest, and the words that takes."""
        places = []
        word, room = 0, _WORD
        for alike in zip(*keys, strict=True):
            bits = max(map(self._bits, alike))
            if bits > room:
                word, room = word + 1, _WORD
            room -= bits
            places.append((word, room))
        return places, word + 1

    def _bits(self, key: Key) -> int:
        if key.otherwise is None:
            return self._where(key.part)[2].bit_length()
        return max(key.otherwise, *(value for _, value in key.codes), 0).bit_length()

    def _where(self, part: FieldPart) -> tuple[int, int, int]:
        """The word, the shift and the mask of a part."""
        least, mask, word, shift = self.packing.fields[self.column[part.field]]
        if not part.bits:
            return word, shift, mask
        bits = (1 << part.bits) - 1
        if least or bits << part.shift & ~mask:
            raise UnsupportedError
        return word, shift + part.shift, bits

    def _raw(self, part: FieldPart, value: int) -> int:
        """The value as it is packed, -1 if there is no room for it."""
        least, mask, _, _ = self.packing.fields[self.column[part.field]]
        return value - least if 0 <= value - least <= mask else -1

    def _codes(self, codes: Codes, part: FieldPart, other: FieldPart | None) -> tuple[int, int]:
        """Add what values of one part become in the other, or (None) as numbers; where they are."""
        first = len(self.codes) // 2
        for value, becomes in codes:
            there, here = becomes if other is None else self._raw(other, becomes), self._raw(part, value)
            if here >= 0 and there < 0:
                raise UnsupportedError
            if here >= 0:
                self.codes.extend((here, there))
        return first, len(self.codes) // 2 - first

    def _trade(self, t: Trade) -> None:
        one, other = self._where(t.one), self._where(t.other)
        if one[2] != other[2]:
            raise UnsupportedError
        codes, back = self._codes(t.codes, t.one, t.other), self._codes(t.back, t.other, t.one)
        first = len(self.whens) // 4
        for part, value in t.when:
            self.whens.extend((*self._where(part), self._raw(part, value)))
        self.trades.extend((*one, *other[:2], *codes, *back, first, len(t.when), t.one == t.other))
        self._trades += 1


def sorting_tables(groups: Iterable[Blocks], packing: Packing, column: Mapping[str, int]) -> ArrangeTables:
    """Return the tables for these groups. Raises UnsupportedError where parts that are traded have no equal room."""
    made = ArrangeTables(packing, column)
    for blocks in groups:
        made.add(blocks)
    return made


def with_equal_room(groups: Iterable[Blocks], fields: Sequence[str], ranges: Sequence[Range]) -> list[Range]:
    """Return the ranges such that fields whose values are traded have the same, with room for what they become."""
    column = {name: i for i, name in enumerate(fields)}
    found = list(ranges)
    trades = [t for blocks in groups for exchange in blocks.exchanges.values() for t in exchange]
    for t in trades:
        for part, codes in ((t.one, (*t.codes, *t.back)), (t.other, (*t.codes, *t.back))):
            at, every = column[part.field], [value for pair in codes for value in pair]
            found[at] = min([found[at][0], *every]), max([found[at][1], *every])
    changed = True
    while changed:
        changed = False
        for a, b in {(column[t.one.field], column[t.other.field]) for t in trades if not t.one.bits and t.one != t.other}:
            both = min(found[a][0], found[b][0]), max(found[a][1], found[b][1])
            changed |= (found[a], found[b]) != (both, both)
            found[a] = found[b] = both
    return found
