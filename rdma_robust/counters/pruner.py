"""Look-aheads by which a search leaves out states that lead nowhere, as the maker of a counter program knows them.

A pruner looks ahead from a control state. Where it says that the state is hopeless no target can be reached from it, and no
search stores it. For the searches in Python it is a test; the compiled search needs :class:`LookAheadTables`,
which say what a look ahead does process by process, and comes to the same answers.

A look ahead is made for states of some *kind*. It follows every process alone from where it stands, but for those that are
gone. A move can be *barred*; a process takes a move that is neither barred nor guarded by a value that is not there and that
no move taken before writes, and it passes some moves although they are barred. A state is hopeless if the kind's process is
gone or no *goal* of the kind is reached, or if nothing has been met yet and no *mark* can spread from move to move to an
end of the kind, or to a move of its process.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class LookAheadTables(NamedTuple):
    """A look ahead as numbers. Fields are given by their places, sets of moves as rows of words of 64 bits.

    `header`: the fields of the kind (0: none), of what is met, of the set of processes that are gone, of a kept value; then
    for every process the pairs (first, end) that say whether it is marked. `pairs`: (field, bits), which hold where a field
    has one of the bits. `moves`: the columns that _look_ahead.pyx names. `kinds`: process, the field whose value its goals
    need, the pairs where the kept value counts instead (first, end), the guards (first, end). `guards`: (move, least,
    allowed) each: values from `least` on, bit i of `allowed` for least + i, others are allowed. `rows`: for every move those
    that a mark may skip to where the move is barred, those after it in its process, those of other processes that a mark
    spreads to; then for every kind its goals and its ends.
    """

    header: array[int]
    moves: array[int]
    pairs: array[int]
    kinds: array[int]
    guards: array[int]
    rows: array[int]


class Pruner(Protocol):
    """A look ahead over the variables of one program."""

    def test(self, fields: Sequence[str]) -> Callable[[Sequence[int]], bool]:
        """Return the test of control states with these fields: True only where no target can be reached."""
        ...

    def tables(self, fields: Sequence[str]) -> LookAheadTables | None:
        """Return the same for the compiled search, or None: then the program is searched in Python."""
        ...
