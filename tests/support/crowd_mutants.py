"""What a crowd needs, each left out, and programs on which that is seen.

`python -m tests.support.crowd_mutants [NAME ...]` looks for small random templates on which each mutant is wrong and writes
them to tests/agreement/crowds/; the tests then only replay these.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from rdma_robust.errors import InternalError, ProgramError, UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.robustness.crowds import instance, unread
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.steps import InstanceSteps
from rdma_robust.robustness.crowds.unread import Settling, Unread
from rdma_robust.robustness.reductions.critical import CriticalCycles
from tests.support.crowd_agreement import WAYS, exact, loaded, robust_for_any
from tests.support.crowd_programs import NAMED, mutation
from tests.support.patches import Patch, mutated
from tests.support.random_crowds import SHAPES, random_crowd
from tests.support.shrinking import shrink

FOLDER = Path(__file__).parents[1] / "agreement" / "crowds"
WAY, PLAIN_WAY = WAYS["hero at start"], WAYS["hero at start, plain"]

_OF_COPY, _COPIED, _TIDIED, _WITH_HERO = InstanceSteps.of_copy, InstanceSteps.copied, Settling.tidied, HeroAtStart._with_hero
_UNREAD = Unread._unread


def _no_crowd_beside_the_hero(self: InstanceSteps, control: Any, local: Any) -> Any:
    return () if control[1] == self.instance.heroes[local[0]] else _OF_COPY(self, control, local)


def _nothing_fresh(self: InstanceSteps, control: Any, local: Any) -> Any:
    return () if self.started(control) and local in self.fresh else _OF_COPY(self, control, local)


def _no_start(self: InstanceSteps, control: Any, local: Any) -> Any:
    return (step for step in _COPIED(self, control, local) if step[0][0].starts is None)


def _no_promise(self: InstanceSteps, control: Any, local: Any) -> Any:
    return (step for step in _COPIED(self, control, local) if not step[1][2] & ~control[2])


def _lost(*fields: str, private: bool | None = None) -> Callable[..., Any]:
    """Forget what the slots of these fields hold, of the thread itself or of its private words."""

    def tidied(self: Settling, thread: int, held: tuple[int, ...]) -> tuple[int, ...]:
        held = _TIDIED(self, thread, held)
        of_words = (1 << self.instance.pivot.seen.marks.of_cells) - 1
        found = []
        for (field, bits), value in zip(self.parts.slots[thread], held, strict=True):
            lost = self.parts.fields[field].partition("[")[0] in fields
            if private is not None and bits >= 0:
                lost = lost and private is bool(bits & of_words)
            found.append(0 if lost else value)
        return tuple(found)

    return tidied


def _only_fresh_heroes(self: HeroAtStart, control: Any, copies: Any, new: Any = None) -> Any:
    fresh = set(self.steps.fresh)
    return (move for move in _WITH_HERO(self, control, copies, new) if move.takes[int(move.label.moves)] in fresh)


def _taint_lost(self: Unread, members: Any, points: Any, *, closed: bool) -> Any:  # noqa: ARG001
    return _UNREAD(self, members, points, closed=True)


MUTANTS: dict[str, Patch] = {
    "no-copy-beside-the-hero": (InstanceSteps, "of_copy", _no_crowd_beside_the_hero),
    "private-words-are-shared": (TwoCopyInstance, "owner", lambda _self, _cell: None),
    "nothing-fresh-in-phase-2": (InstanceSteps, "of_copy", _nothing_fresh),
    "copies-start-nothing": (InstanceSteps, "copied", _no_start),
    "heroes-are-fresh": (HeroAtStart, "_with_hero", _only_fresh_heroes),
    "taint-of-copies-lost": (Settling, "tidied", _lost("tainted", private=False)),
    "types-in-beta-of-copies-lost": (Settling, "tidied", _lost("beta")),
    "cpu-in-beta-of-copies-lost": (Settling, "tidied", _lost("cpu_beta")),
    "fence-flag-of-copies-lost": (Settling, "tidied", _lost("fenced")),
    "forced-completions-of-copies-lost": (Settling, "tidied", _lost("forced")),
    "carried-poison-of-copies-lost": (Settling, "tidied", _lost("poison_carried")),
    "poison-of-private-words-lost": (Settling, "tidied", _lost("poison")),
    "marks-of-private-words-lost": (Settling, "tidied", _lost("accessed_in_beta")),
    "taint-of-private-words-lost": (Settling, "tidied", _lost("tainted", private=True)),
    "stores-in-beta-of-copies-lost": (Settling, "tidied", _lost("store_beta")),
    "written-by-copies-lost": (Settling, "tidied", _lost("written_to_Sg")),
    "no-conflict-with-itself": (instance, "CriticalCycles", lambda frame, _many: CriticalCycles(frame)),
    "values-that-pivots-find-lost": (Settling, "_freezing", lambda _self, _graph: frozenset()),
    "words-that-explicit-threads-read-lost": (unread, "read_next", lambda _graph, _cell: frozenset()),
    "words-that-copies-read-lost": (Unread, "_by_movers", lambda _self, _cell, **_how: False),
    "values-that-named-pivots-find-lost": (Unread, "_pivots", lambda _self, _thread, _cell: frozenset()),
    "what-pivots-find-is-all-alike": (Unread, "_like", lambda _self, _number, _value: 0),
    "marks-of-words-lost": (unread, "accessed_next", lambda _graph, _cell: frozenset()),
    "taint-lost-before-the-cycle-closes": (Unread, "_unread", _taint_lost),
    "marks-of-others-not-cleared": (InstanceSteps, "_breaks", lambda _self, _event, _promised: False),
    "copies-never-forward": (InstanceSteps, "copied", _no_promise),
}
"""A mutant by its name: what is replaced, and by what."""


UNNOTICED = {
    "copies-never-forward": "the read that forwards can be the pivot, of the hero: then no other thread is relaxed",
    "marks-of-private-words-lost": "a copy whose accesses of its own word change places is a violation with one copy",
    "taint-of-private-words-lost": "the copy is tainted itself",
}
"""Mutants that no program is known to notice, and why they may be redundant."""


def caught(name: str, program: Program) -> bool:
    """Whether the mutant says something else of the program than is true; with the reductions, some of which know the same
    rule, or without them."""
    truth = robust_for_any(program, WAY, seconds=2)
    if truth is None:
        return False
    with mutated((MUTANTS[name],)):
        return any(robust_for_any(program, way, seconds=2) is (not truth) for way in (WAY, PLAIN_WAY))


def caught_text(name: str, text: str) -> bool:
    try:
        program = loaded(text)
        return bool(program.crowds) and exact(program) and caught(name, program)
    except (ProgramError, UsageError, InternalError):
        return False


def texts(seeds: range) -> Iterator[str]:
    """Yield the named programs, mutations of them, and random ones."""
    yield from NAMED.values()
    for seed in seeds:
        if (text := mutation(Random(f"mutation {seed}"))) is not None:
            yield text
        kind = list(SHAPES)[seed % len(SHAPES)]
        yield random_crowd(Random(f"{kind} {seed}"), SHAPES[kind])


def find(name: str, seeds: range) -> str | None:
    """Return a small text on which the mutant is caught, None if there is none among these."""
    found = next((text for text in texts(seeds) if caught_text(name, text)), None)
    return None if found is None else shrink(found, lambda shorter: caught_text(name, shorter))


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or MUTANTS:
        path = FOLDER / f"{name}.rdma"
        if not path.exists():
            text = find(name, range(600))
            print(name, "not caught" if text is None else f"{len(text.splitlines())} lines", flush=True)
            if text is not None:
                path.write_text(text)


if __name__ == "__main__":
    main()
