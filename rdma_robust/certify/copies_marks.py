"""Which marks are about one copy of a crowd, and which about all threads: a copy is known by what it has alone.

A field of the marks that is in no list here would be taken for one of all threads, so there must be none.

Source: docs/theory-crowds.md, "Crowds need only counting" (the local part of a thread); docs/theory.md, "The search".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from rdma_robust.certify.remembered import Marks
from rdma_robust.language.flow.cfg import Cell

_THREAD_OF: Final[Mapping[str, Callable[[Any], int]]] = {
    **dict.fromkeys(("beta", "under_way", "on_words"), lambda member: member[0][0]),
    **dict.fromkeys(("forced", "overtaken", "awaited", "settled"), lambda member: member[0]),
    **dict.fromkeys(("forwarding",), lambda member: member[1]),
    **dict.fromkeys(("cpu", "poison_carried", "poison_taken", "tainted_threads", "stores"), lambda member: member),
}
"""For each set of marks that tells of threads the number of the thread that a member is about."""

_OF_CELLS: Final = ("read", "written", "poisoned", "tainted_reads", "tainted_writes", "atomics")
_OF_ALL: Final = ("pivot", "closed", "alpha_value", "half", "split", "behind", "trails")
"""The last two are about memory behind a card, beside which there is no any number of copies."""

PARTS: Final = (*_THREAD_OF, *_OF_CELLS)
"""The sets of marks that copies have a share of, in the order of a share."""

Share = tuple[frozenset[Any], ...]
"""What the sets of `PARTS` hold of one copy, in the numbers and cells of the second copy of its thread."""

NOTHING: Final[Share] = (frozenset(),) * len(PARTS)
"""The share of a copy before beta, and of one that has done nothing since."""

SOME_COPY: Final = -1
"""Stands in `forwarding` for the copy, another one than that which moves, whose store is the last write of the cell."""

_TAINT: Final = tuple(PARTS.index(name) for name in ("tainted_threads", "tainted_reads", "tainted_writes"))
FORWARDING: Final = PARTS.index("forwarding")

if {*PARTS, *_OF_ALL} != {field.name for field in fields(Marks)}:
    raise AssertionError("a mark is neither one of threads or cells, nor one of all")


def marks_together(marks: Marks, share: Share) -> Marks:
    """Return the marks as the copy that moves sees them: those of all with its own. Once the cycle is closed, its taint is
    forgotten, as that of all threads is."""
    own = calm(share) if marks.closed else share
    found = {name: getattr(marks, name) | own[i] for i, name in enumerate(PARTS) if own[i]}
    if "forwarding" in found:
        mine = {cell for cell, _ in own[FORWARDING]}
        found["forwarding"] = frozenset(m for m in found["forwarding"] if m[1] != SOME_COPY or m[0] not in mine)
    return replace(marks, **found) if found else marks


def marks_apart(marks: Marks, thread: int, own_cells: frozenset[Cell]) -> tuple[Marks, Share]:
    """Return the marks of all, and the share of the copy that is `thread`, which alone knows `own_cells`."""
    share, rest = [], {}
    for name in PARTS:
        whole = getattr(marks, name)
        if name in _THREAD_OF:
            of = _THREAD_OF[name]
            mine = frozenset(member for member in whole if of(member) == thread)
        else:
            mine = whole & own_cells
        share.append(mine)
        if mine:
            rest[name] = whole - mine
    held = share[FORWARDING]
    if held:
        rest["forwarding"] |= {(cell, SOME_COPY) for cell, _ in held if cell not in own_cells}
    return (replace(marks, **rest) if rest else marks), tuple(share)


def is_alone(share: Share, thread: int, own_cells: frozenset[Cell]) -> bool:
    """Whether a share tells of nothing but the copy that is `thread`."""
    for name, part in zip(PARTS, share, strict=True):
        of = _THREAD_OF.get(name)
        if not (part <= own_cells if of is None else all(of(member) == thread for member in part)):
            return False
    return True


def calm(share: Share) -> Share:
    """The share without taint, which is forgotten when the cycle closes."""
    return tuple(frozenset() if i in _TAINT else part for i, part in enumerate(share))


def lost(before: Marks, after: Marks) -> frozenset[Cell]:
    """The cells of which another copy was the last writer before a step, and is not after it."""
    return frozenset(cell for cell, thread in before.forwarding - after.forwarding if thread == SOME_COPY)


def holds_last_write(share: Share, cell: Cell) -> bool:
    """Whether the last write of the cell is a store of the copy."""
    return any(each == cell for each, _ in share[FORWARDING])


def without_hold(share: Share, cell: Cell) -> Share:
    left = frozenset(member for member in share[FORWARDING] if member[0] != cell)
    return (*share[:FORWARDING], left, *share[FORWARDING + 1 :])


def released_marks(marks: Marks, share: Share) -> Marks:
    """The marks of all when nobody asks any more for the copy that has the share: it has ended."""
    gone = {(cell, SOME_COPY) for cell, _ in share[FORWARDING]}
    return replace(marks, forwarding=marks.forwarding - gone) if gone & marks.forwarding else marks
