"""The checker's steps of crowds, wrong on purpose: what is known of copies is lost, or one is taken for another thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from rdma_robust.certify import copies_moves
from rdma_robust.certify.copies_moves import CopyFiring, Crowd
from rdma_robust.certify.copies_places import PARTS, Control, CopyState, Share, marks_apart
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import Marks, PivotAccesses
from rdma_robust.certify.thread_events import ThreadEvent
from rdma_robust.evidence import copies_search
from rdma_robust.language.flow.cfg import Cell
from tests.support.patches import Patch

_OF_COPY, _FOUND, _JOIN, _GIVEN = Crowd._of_copy, Crowd._found, Crowd._join, Crowd._given
_MEETS, _IN_BETA, _FIRED = NormalFormRules._meets, NormalFormRules._in_beta, copies_search._CrowdSearch._fired


def _losing(name: str) -> Callable[..., tuple[Marks, Share]]:
    """A copy loses what a set of marks tells of it."""

    def without(marks: Marks, thread: int, own_cells: frozenset[Cell]) -> tuple[Marks, Share]:
        common, share = marks_apart(marks, thread, own_cells)
        return common, tuple(frozenset() if part == name else each for part, each in zip(PARTS, share, strict=True))

    return without


def _no_fresh_in_beta(self: Crowd, control: int, mover: int) -> tuple[Any, ...]:
    return () if mover in self.fresh and self.controls[control].marks is not None else _FOUND(self, control, mover)


def _no_start(self: Crowd, control: Control, number: int) -> Iterator[Any]:
    yield from (each for each in _OF_COPY(self, control, number) if not each.what.endswith("first event of beta"))


def _no_second_of_the_template(self: Crowd, control: Control, number: int) -> Iterator[Any]:
    hero = control.hero
    if hero is None or self.copies[number].template != hero.template:
        yield from _OF_COPY(self, control, number)


def _no_begun_hero(self: Crowd, waiting: Any, number: int) -> CopyFiring | None:
    return _JOIN(self, waiting, number) if waiting.hero is None or number in self.fresh else None


def _no_fresh_hero(self: Crowd, waiting: Any, number: int) -> CopyFiring | None:
    return _JOIN(self, waiting, number) if waiting.hero is None or number not in self.fresh else None


def _mover_is_hero(self: Crowd, waiting: Any, number: int) -> CopyFiring | None:
    """The copy that starts beta is taken to hold the pivot as well."""
    joined = _JOIN(self, waiting, number)
    if joined is None or waiting.hero is None or not waiting.takes:
        return joined
    return replace(joined, takes=(number,), gives=()) if waiting.takes == (number,) else None


def _one_meets(self: NormalFormRules, event: ThreadEvent, pivot: PivotAccesses) -> bool:
    """Own cells of two copies are one."""
    if event.cell is not None and event.cell.name == pivot.cell.name and event.cell.node.startswith(pivot.cell.node[:-2]):
        return _MEETS(self, replace(event, cell=pivot.cell), pivot)
    return _MEETS(self, event, pivot)


def _as_hero(self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Any, tag: Any) -> Any:
    """A copy of the hero's thread may no more have an event of its CPU in beta than the hero."""
    number = marks.pivot.thread
    mine = event.thread == number + 1
    placed = _IN_BETA(self, marks, replace(event, thread=number) if mine else event, value, tag)
    return None if placed is None else _IN_BETA(self, marks, event, value, tag)


def _no_holds(self: Crowd, after: Control, copy: CopyState) -> Any:
    """A copy that has ended between the events of a remote atomic does not keep others from the word."""
    changed, gives = _GIVEN(self, after, copy)
    return replace(changed, held=after.held), gives


def _given_back(self: Any, marking: Any, firing: CopyFiring) -> Any:
    """A copy that takes a step is still where it was."""
    return _FIRED(self, marking, replace(firing, takes=()))


def _polls_fail(limit: Any, _at: int, counts: tuple[int, ...]) -> Any:
    return None if counts and counts[0] < 0 else limit


MUTANTS: dict[str, tuple[Patch, ...]] = {
    "no copy of the hero's thread": ((Crowd, "_of_copy", _no_second_of_the_template),),
    "no fresh copy in beta": ((Crowd, "_found", _no_fresh_in_beta),),
    "no copy starts beta": ((Crowd, "_of_copy", _no_start),),
    "the hero has not begun": ((Crowd, "_join", _no_begun_hero),),
    "the hero has begun": ((Crowd, "_join", _no_fresh_hero),),
    "the copy that starts is the hero": ((Crowd, "_join", _mover_is_hero),),
    "own cells of two copies are one": ((NormalFormRules, "_meets", _one_meets),),
    "a copy is cut as the hero is": ((NormalFormRules, "_in_beta", _as_hero),),
    "a copy that ended holds no word": ((Crowd, "_given", _no_holds),),
    "a copy stays where it was": ((copies_search._CrowdSearch, "_fired", _given_back),),
    "polls of copies fail": ((copies_moves, "fired", _polls_fail),),
    "no copy loses its store": ((copies_moves, "lost", lambda *_marks: frozenset()),),
    **{
        f"a copy has no share of {name}": ((copies_moves, "marks_apart", _losing(name)),)
        for name in PARTS
        if name != "awaited"
    },
}
"""What is wrong, to what is replaced by what. Copies have no messages, so none is awaited."""
