"""ROBUST certificates for any number of copies: an inductive set of markings of the normal form's search.

The set must contain the initial state, every step from it must lead into it, whether of a named thread, the hero, or a
copy, and none of its states may stand before the pivot with the cycle closed. No step and no violation asks that a copy is
not there; so a step that is possible from a state of a marking is possible from its largest states, and only those are
looked at.

Source: docs/theory-crowds.md, "Crowds need only counting"; docs/theory-search.md, "The search", Theorem 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from rdma_robust.certify.copies_moves import NO_CHANGE, CopyFiring, Crowd
from rdma_robust.certify.copies_places import Control, CopyState, Hero
from rdma_robust.certify.copies_states import CopyMarkings, MarkedCopy, read_markings
from rdma_robust.certify.document import json_array, json_members, natural, reject, string
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.invariant_states import Limit
from rdma_robust.certify.invariants import fired, open_registers
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.certify.violations import KIND as TRACE
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of

COPIES_TRACE = "copies-trace"


def check_robust_copies(program: Program, platform: Platform, evidence: object) -> str:
    """Check that the markings prove `program` robust for any number of copies; return what they are, in a few words.

    Raises InvalidCertificate.
    """
    try:
        crowd = Crowd(program, platform)
    except UsageError as error:
        reject(f"the program with two copies of each template: {error}")
    listed = read_markings(crowd, evidence)
    _Markings(crowd, listed).check()
    markings = len(listed.markings)
    return f"an inductive invariant of {markings} markings, for any number of copies of {_listed(program)}"


def check_trace_of_copies(program: Program, platform: Platform, evidence: object) -> str:
    """Check that the trace proves the program with so many copies of each template not robust; return what it is.

    Raises InvalidCertificate.
    """
    found = json_members(evidence, "`evidence`", ("kind", "copies", "events", "mo"))
    numbers = _numbers_of_copies(program, found["copies"])
    explicit = with_claimed_copies(program, found["copies"])
    what = check_not_robust(explicit, platform, {"kind": TRACE, "events": found["events"], "mo": found["mo"]})
    return f"{what} with {_shown_numbers(numbers)}"


def with_claimed_copies(program: Program, copies: object) -> Program:
    """Return the program with so many copies of each template as a trace says. Raises InvalidCertificate."""
    try:
        return copies_of(program, _numbers_of_copies(program, copies))
    except UsageError as error:
        reject(f"`evidence.copies`: {error}")


def _numbers_of_copies(program: Program, copies: object) -> dict[str, int]:
    names = [thread.name for thread in program.crowds]
    listed = json_array(copies, "`evidence.copies`", lambda item, at: json_members(item, at, ("thread", "copies")))
    if [string(each["thread"], "`evidence.copies`") for each in listed] != names:
        reject(f"`evidence.copies` does not name the threads of which there are any number: {', '.join(names)}")
    return {name: natural(each["copies"], "`evidence.copies`") for name, each in zip(names, listed, strict=True)}


def _listed(program: Program) -> str:
    return " and of ".join(thread.name for thread in program.crowds)


def _shown_numbers(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {'copy' if number == 1 else 'copies'} of {name}" for name, number in numbers.items())


class _Markings:
    """The check of one set of markings."""

    def __init__(self, crowd: Crowd, listed: CopyMarkings) -> None:
        self._crowd, self._listed = crowd, listed
        crowd.fresh = listed.fresh
        self._markings: dict[int, list[tuple[MarkedCopy, frozenset[int]]]] = {}
        for marking in listed.markings:
            unlimited = {copy for copy, most in marking.copies.items() if most is None}.union(listed.fresh)
            self._markings.setdefault(marking.control, []).append((marking, frozenset(unlimited)))
        self._fits = _Fits(crowd, listed)

    def check(self) -> None:
        self._check_start()
        for marking in self._listed.markings:
            if self._crowd.violates(marking.control):
                reject(f"the invariant contains a violation: {self._show(marking)}")
            unready = self._crowd.unready(marking.control)
            if unready is not None:
                reject(
                    "under sequential consistency a message can find no buffer (rnr), and then robustness has no proof of"
                    f" this kind: line {unready.line}, in {self._show(marking)}"
                )
            unlimited = {copy for copy, most in marking.copies.items() if most is None}.union(self._listed.fresh)
            for firing in self._crowd.firings(marking.control, marking.copies):
                stays = firing.control == marking.control and firing.change == NO_CHANGE and not firing.calms
                if not (stays and unlimited.issuperset(firing.gives)):
                    self._check_firing(marking, firing)

    def _check_start(self) -> None:
        crowd = self._crowd
        for k, fresh in enumerate(self._listed.fresh):
            if fresh not in self._fits.copies(crowd.copy_number(crowd.not_begun(k))):
                reject(f"a copy of {crowd.templates[k].thread.name} that has not begun is not what the invariant says")
        zeros: Limit = (0,) * (crowd.counters * len(crowd.counted))
        if not self._covered(crowd.number(crowd.start()), zeros, {}):
            reject("the initial state is not in the invariant")

    def _check_firing(self, marking: MarkedCopy, firing: CopyFiring) -> None:
        left = dict(marking.copies)
        for copy, times in Counter(firing.takes).items():
            if copy in self._listed.fresh:
                continue
            most = left[copy]
            if most is not None:
                if most < times:
                    return
                left[copy] = most - times
        limit = fired((*marking.limit, *firing.brings), *firing.change)
        if limit is None:
            return
        for copy in firing.gives:
            left[copy] = _sum(left.get(copy, 0), 1)
        if firing.calms:
            calmed: dict[int, int | None] = {}
            for copy, most in left.items():
                after = self._crowd.calmed(copy)
                calmed[after] = _sum(calmed.get(after, 0), most)
            left = calmed
        if not self._covered(firing.control, limit, left):
            reject(f"the invariant is not inductive: {firing.what} leads out of it from {self._show(marking)}")

    def _covered(self, control: int, limit: Limit, copies: Mapping[int, int | None]) -> bool:
        """Whether some marking of the set stands for the state, where copies may be as listed ones that stand for more."""
        fitting = {copy: self._fits.copies(copy) for copy, most in copies.items() if most != 0}
        sure = frozenset(fits[0] for copy, fits in fitting.items() if copies[copy] is None and len(fits) == 1)
        others = {copy: fits for copy, fits in fitting.items() if copies[copy] is not None or len(fits) != 1}
        for listed in self._fits.controls(control):
            for marking, unlimited in self._markings.get(listed, ()):
                if sure <= unlimited and _within(limit, marking.limit) and self._holds(marking, unlimited, others, copies):
                    return True
        return False

    def _holds(
        self,
        marking: MarkedCopy,
        unlimited: frozenset[int],
        fitting: Mapping[int, Sequence[int]],
        copies: Mapping[int, int | None],
    ) -> bool:
        """Whether the marking has room for the copies that `fitting` tells of."""
        room = dict(marking.copies)
        for copy, fits in fitting.items():
            if not unlimited.isdisjoint(fits):
                continue
            most = copies[copy]
            if most is None or not self._placed(room, [each for each in fits if each in room], most):
                return False
        return True

    @staticmethod
    def _placed(room: dict[int, int | None], fitting: Sequence[int], most: int) -> bool:
        """Take room for so many copies, of what is left."""
        for each in fitting:
            here = room[each]
            assert here is not None
            taken = min(here, most)
            room[each] = here - taken
            most -= taken
        return most == 0

    def _show(self, marking: MarkedCopy) -> str:
        control = self._crowd.controls[marking.control]
        names = [self._crowd.two.threads[t].name for t in self._crowd.named]
        at = [f"{name} at point {local.point}" for name, local in zip(names, control.threads, strict=True)]
        if control.hero is not None:
            name = self._crowd.templates[control.hero.template].thread.name
            at.append(f"a copy of {name}, with the pivot, at point {control.hero.local.point}")
        for number, most in marking.copies.items():
            copy = self._crowd.copies[number]
            many = "any number" if most is None else str(most)
            at.append(f"{many} of {self._crowd.templates[copy.template].thread.name} at point {copy.local.point}")
        held = [f"{cell} = {value}" for cell, value in zip(self._crowd.cells, control.values, strict=True)]
        shown = [*at[:6], *held[:6], *(["..."] if len(at) > 6 or len(held) > 6 else [])]
        return f"({', '.join(shown)}{'' if control.marks is None else '; in beta'})"


class _Fits:
    """Listed control states and copies that a computed one is among: the same, but for registers and the pivot's value
    that they leave open, and for limits of completions that are larger."""

    def __init__(self, crowd: Crowd, listed: CopyMarkings) -> None:
        self._crowd = crowd
        controls = [crowd.controls[number] for number in listed.controls]
        copies = [crowd.copies[number] for number in listed.copies]
        self._controls = dict(zip(controls, listed.controls, strict=True))
        self._copies: dict[CopyState, list[int]] = {}
        for number, copy in zip(listed.copies, copies, strict=True):
            self._copies.setdefault(replace(copy, limit=()), []).append(number)
        self._named = [open_registers([c.threads[i] for c in controls]) for i in range(len(crowd.named))]
        heroes = [c.hero for c in controls if c.hero is not None]
        self._heroes = [
            open_registers([hero.local for hero in heroes if hero.template == k]) for k in range(len(crowd.templates))
        ]
        self._movers = [open_registers([c.local for c in copies if c.template == k]) for k in range(len(crowd.templates))]
        self._found: dict[int, tuple[int, ...]] = {}
        self._found_copies: dict[int, tuple[int, ...]] = {}

    def controls(self, number: int) -> tuple[int, ...]:
        if number not in self._found:
            made = (self._controls.get(each) for each in self._opened(self._crowd.controls[number]))
            self._found[number] = tuple(dict.fromkeys(each for each in made if each is not None))
        return self._found[number]

    def copies(self, number: int) -> tuple[int, ...]:
        if number not in self._found_copies:
            copy = self._crowd.copies[number]
            opened = (replace(copy, local=local, limit=()) for local in _patterns(self._movers[copy.template], copy.local))
            fitting = [each for like in opened for each in self._copies.get(like, ())]
            self._found_copies[number] = tuple(
                each for each in fitting if _within(copy.limit, self._crowd.copies[each].limit)
            )
        return self._found_copies[number]

    def _opened(self, control: Control) -> Iterator[Control]:
        threads = [list(_patterns(self._named[i], local)) for i, local in enumerate(control.threads)]
        heroes: list[Hero | None] = [None]
        if control.hero is not None:
            one = control.hero
            heroes = [replace(one, local=local) for local in _patterns(self._heroes[one.template], one.local)]
        marks = control.marks
        parts = {marks: None} if marks is None else {marks: None, marks.without_value(): None}
        for choice in product(*threads):
            for hero in heroes:
                for part in parts:
                    yield replace(control, threads=choice, hero=hero, marks=part)


def _patterns(opened: Mapping[tuple[int, int | None], set[tuple[bool, ...]]], local: LocalState) -> Iterator[LocalState]:
    """The place of a thread with the registers left open that some listed one leaves open there."""
    for pattern in opened.get((local.point, local.operation), ()):
        registers = tuple(None if free else value for free, value in zip(pattern, local.registers, strict=True))
        yield replace(local, registers=registers)


def _within(small: Limit, large: Limit) -> bool:
    return all(most is None or (one is not None and one <= most) for one, most in zip(small, large, strict=True))


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
