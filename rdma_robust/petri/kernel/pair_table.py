"""The table of conditions that may hold together, filled in Python; `_pair_table` is its compiled twin."""

from __future__ import annotations

from itertools import combinations_with_replacement

from rdma_robust.errors import InternalError

Pair = tuple[int, int]


class PairTable:
    """The pairs of conditions that may hold together, and those that exclude each other and that a proof needs.

    Conditions are numbers; 0 always holds, and those of one place follow each other, weakest first, from `lowest[x]` on for
    each condition x of it. `initial` hold at the start. `guards` are those of each transition, at least one; `raised` and
    `lowered` have for each condition on a place that it changes (condition, condition that must have held before).
    """

    def __init__(
        self,
        lowest: list[int],
        initial: list[int],
        guards: list[list[int]],
        raised: list[list[Pair]],
        lowered: list[list[Pair]],
    ) -> None:
        self._lowest, self._guards, self._raised, self._lowered = lowest, guards, raised, lowered
        mask = sum(1 << x for x in initial)
        # Row x has the bits of the conditions that may hold together with x; bit 0 says that x may hold at all.
        self._rows = [0] * len(lowest)
        for x in initial:
            self._rows[x] = mask
        self._makers: list[list[tuple[int, int]]] = [[] for _ in lowest]
        for t, changes in enumerate(raised):
            for after, earlier in changes:
                self._makers[after].append((t, earlier))
        self._taken: set[Pair] = set()
        self._chosen: list[Pair] = []
        self._next = 0

    def work(self, _budget: int) -> tuple[bool, int]:
        """Go on for about so many words of the matrix; return whether the table is complete, and the words.

        Here every transition is fired once, whatever the budget.
        """
        rows = list(self._rows)
        for t, guard in enumerate(self._guards):
            common = -1
            for x in guard:
                common &= self._rows[x]
            if all(common >> x & 1 for x in guard):
                for x, earlier in self._raised[t]:
                    if common >> earlier & 1:
                        self._add(t, x, common & self._rows[earlier])
        return rows == self._rows, len(rows) * len(rows) // 64 + len(self._guards)

    def may_hold(self, x: int, y: int) -> bool:
        return bool(self._rows[x] >> y & 1)

    def _add(self, t: int, x: int, held: int) -> None:
        """Add what may hold together with `x` after a transition, if it is in `held` before it."""
        after = held
        for y, earlier in (*self._raised[t], *self._lowered[t]):
            after = after & ~(1 << y) | (held >> earlier & 1) << y
        new = after & ~self._rows[x]
        self._rows[x] |= new
        while new:
            low = new & -new
            self._rows[low.bit_length() - 1] |= 1 << x
            new ^= low

    def excluding(self, conditions: list[int]) -> Pair | None:
        """Return two of the conditions that never hold together, the same twice if one never holds, or None."""
        for x in conditions:
            if not self.may_hold(x, 0):
                return x, x
        pairs = ((y, x) for i, x in enumerate(conditions) for y in conditions[:i])
        return next((pair for pair in pairs if not self.may_hold(*pair)), None)

    def choose(self, conditions: list[int]) -> bool:
        """Choose a pair of the conditions that exclude each other, unless one is chosen; return whether there is one."""
        if any(pair in self._taken for pair in combinations_with_replacement(conditions, 2)):
            return True
        pair = self.excluding(conditions)
        if pair is None:
            return False
        x, y = pair
        while x == y and x > self._lowest[x] and not self.may_hold(x - 1, 0):
            x = y = x - 1
        while x != y and x > self._lowest[x] and not self.may_hold(x - 1, y):
            x -= 1
        while x != y and y > self._lowest[y] and not self.may_hold(y - 1, x):
            y -= 1
        if (x, y) not in self._taken:
            self._taken |= {(x, y), (y, x)}
            self._chosen.append((x, y))
        return True

    def close(self, budget: int) -> tuple[bool, int]:
        """Choose pairs until each predecessor of a chosen one is above one; about so many predecessors are looked at.

        Return whether that is done, and how many.
        """
        work = 0
        while self._next < len(self._chosen):
            if work >= budget:
                return False, work
            x, y = self._chosen[self._next]
            self._next += 1
            work += self._before(x, y) + (self._before(y, x) if x != y else 0)
        return True, work

    def _before(self, x: int, other: int) -> int:
        """Choose a pair for each predecessor by a transition that makes `x`."""
        for t, earlier in self._makers[x]:
            needed = [*self._guards[t], earlier]
            if x != other:
                needed.append(dict((*self._raised[t], *self._lowered[t])).get(other, other))
            if not self.choose([z for z in needed if z]):
                raise InternalError("a cone of a proof by pairs has a predecessor that is not excluded")
        return len(self._makers[x])

    def chosen(self) -> list[Pair]:
        """The chosen pairs in their order."""
        return list(self._chosen)
