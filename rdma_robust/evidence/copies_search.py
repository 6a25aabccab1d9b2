"""The search of the checker's normal form for all numbers of copies at once: what it finds is inductive by how it is found.

A marking is a control state with the copies that there are, by local state: so many, or any number. Forward search with
domination and acceleration (Karp and Miller 1969): before the first event of beta to the end, and on from the largest
markings. A step of copies of which there are any number that leaves the control state as it is can be repeated: what it
gives there are any number of at once (copycats).

Source: docs/theory-crowds.md, "Crowds need only counting".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from rdma_robust.certify.copies_moves import NO_CHANGE, CopyFiring, Crowd
from rdma_robust.certify.copies_places import CopyState
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.invariant_states import Limit
from rdma_robust.certify.invariants import fired
from rdma_robust.certify.remembered import Value
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.counters.inductive import limit_covers
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence.checkers_search import UNREADY, ThreadFacts, beyond
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.limits import Limits

Tokens = Mapping[int, int | None]
"""How many copies there are of each number; None is any number."""

_WIDENED = 3
"""More completions of a copy than that, where loops make any number of them, are taken for any number."""


@dataclass(frozen=True, slots=True)
class Marking:
    """All states with this control state, at most these completions of named threads and the hero, and at most these
    copies, besides any that have not begun."""

    control: int
    limit: Limit
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class FoundCrowd:
    """The largest markings, no violation among them; or a violation (then the markings are not all), and whether it is
    certain that it is one: not where completions were taken for any number."""

    crowd: Crowd
    markings: list[Marking]
    violation: Marking | None
    widened: bool


@dataclass(slots=True)
class _Node:
    marking: Marking
    parent: _Node | None


def all_markings(program: Program, platform: Platform, depth: int, limits: Limits) -> FoundCrowd:
    """Return every marking that the search reaches, or those up to the first violation.

    Raises SizeLimitError if one of `limits` is reached, and as :func:`checkers_search.all_states` for messages;
    InternalError if what it does not know of a program is written to memory.
    """
    return _CrowdSearch(Crowd(program, platform), depth, limits).found()


@dataclass
class _CrowdSearch:
    crowd: Crowd
    depth: int
    limits: Limits
    _known: dict[int, list[Marking]] = field(default_factory=dict)
    _copycats: dict[tuple[int, frozenset[int]], tuple[int, ...]] = field(default_factory=dict)
    _same: dict[int, int] = field(default_factory=dict)
    _same_copy: dict[int, int] = field(default_factory=dict)
    _stored: int = 0
    _widened: bool = False

    def __post_init__(self) -> None:
        self._exceeded = self.limits.watch()
        self._facts = [ThreadFacts(thread) for thread in self.crowd.two.threads]
        self.crowd.fresh = tuple(
            self._copy(self.crowd.copy_number(self.crowd.not_begun(k))) for k in range(len(self.crowd.templates))
        )

    def found(self) -> FoundCrowd:
        control = self._control(self.crowd.number(self.crowd.start()))
        start = Marking(control, self._open(control, (0,) * (self.crowd.counters * len(self.crowd.counted))), {})
        violation = self._explored([_Node(self._with_copycats(start), None)], begun=False)
        if violation is None:
            phase_one = [marking for known in list(self._known.values()) for marking in known]
            starts = (after for marking in phase_one for after in self._after(marking, begun=True))
            violation = self._explored([_Node(marking, None) for marking in starts], begun=True)
        markings = [marking for known in self._known.values() for marking in known]
        return FoundCrowd(self.crowd, markings, violation, self._widened)

    def _explored(self, todo: list[_Node], begun: bool) -> Marking | None:
        """Follow all steps before beta, or from then on; return the first marking with a violation."""
        while todo:
            node = todo.pop()
            marking = node.marking
            known = self._known.setdefault(marking.control, [])
            if any(_below(marking, other) for other in known):
                continue
            known[:] = [other for other in known if not _below(other, marking)] + [marking]
            self._stored += 1
            self._within()
            if self.crowd.violates(marking.control):
                return marking
            todo += [self._accelerated(_Node(after, node)) for after in self._after(marking, begun)]
        return None

    def _within(self) -> None:
        cut = "states" if self.limits.states is not None and self._stored > self.limits.states else self._exceeded()
        if cut:
            raise SizeLimitError(f"the search for the invariant reached the limit of {cut} after {self._stored} markings")

    def _after(self, marking: Marking, begun: bool) -> Iterator[Marking]:
        """The markings that one step leads to, before beta or in it, with what can be repeated there."""
        here = self.crowd.controls[marking.control]
        if here.marks is None and not begun:
            self._must_know(marking.control)
        unlimited = {copy for copy, most in marking.tokens.items() if most is None}.union(self.crowd.fresh)
        for firing in self.crowd.firings(marking.control, marking.tokens):
            if firing.control == marking.control and firing.change == NO_CHANGE and unlimited.issuperset(firing.gives):
                continue
            if (self.crowd.controls[firing.control].marks is not None) is not begun:
                continue
            after = self._fired(marking, firing)
            if after is not None and not (after.control == marking.control and _below(after, marking)):
                yield self._with_copycats(after)

    def _must_know(self, control: int) -> None:
        unready = self.crowd.unready(control)
        if unready is not None:
            raise SizeLimitError(f"{UNREADY}: line {unready.line}")
        mail = self.crowd.controls[control].mail
        if beyond(self.depth, self.crowd.two, self.crowd.steps, mail):
            raise SizeLimitError(f"more than {self.depth} receives of one connection can be outstanding")

    def _fired(self, marking: Marking, firing: CopyFiring) -> Marking | None:
        """The marking after a step; None if there are too few copies or completions for it."""
        tokens = dict(marking.tokens)
        for copy, times in Counter(firing.takes).items():
            if copy in self.crowd.fresh:
                continue
            most = tokens[copy]
            if most is not None:
                if most < times:
                    return None
                tokens[copy] = most - times
                if most == times:
                    del tokens[copy]
        limit = fired((*marking.limit, *firing.brings), *firing.change)
        if limit is None:
            return None
        for number in firing.gives:
            copy = self._copy(number)
            if copy not in self.crowd.fresh:
                tokens[copy] = _sum(tokens.get(copy, 0), 1)
        if firing.calms:
            tokens = self._calmed(tokens)
        control = self._control(firing.control)
        return Marking(control, self._open(control, limit), tokens)

    def _calmed(self, tokens: dict[int, int | None]) -> dict[int, int | None]:
        found: dict[int, int | None] = {}
        for copy, most in tokens.items():
            after = self.crowd.calmed(copy)
            if after not in self.crowd.fresh:
                found[after] = _sum(found.get(after, 0), most)
        return found

    def _with_copycats(self, marking: Marking) -> Marking:
        """The marking where there are any number of what steps give that take any number, and can be repeated."""
        unlimited = frozenset(copy for copy, most in marking.tokens.items() if most is None)
        key = marking.control, unlimited
        if key not in self._copycats:
            self._copycats[key] = self._repeated(marking.control, unlimited)
        more = self._copycats[key]
        return replace(marking, tokens={**marking.tokens, **dict.fromkeys(more)}) if more else marking

    def _repeated(self, control: int, unlimited: frozenset[int]) -> tuple[int, ...]:
        """The copies that steps of unlimited ones give without a change of the control state, again and again."""
        found = dict.fromkeys((*self.crowd.fresh, *unlimited))
        todo = list(found)
        while todo:
            for firing in self.crowd.firings_of(control, todo.pop(), tuple(found)):
                if self._control(firing.control) != control or firing.brings or firing.calms:
                    continue
                for number in firing.gives:
                    copy = self._copy(number)
                    if copy not in found:
                        found[copy] = None
                        todo.append(copy)
        return tuple(copy for copy in found if copy not in self.crowd.fresh and copy not in unlimited)

    def _accelerated(self, node: _Node) -> _Node:
        """Let there be any number of what a repetition adds."""
        marking, above = node.marking, node.parent
        while above is not None:
            old = above.marking
            if old.control == marking.control and old != marking and _below(old, marking):
                limit = tuple(b if a == b else None for a, b in zip(old.limit, marking.limit, strict=True))
                tokens = {c: most if old.tokens.get(c, 0) == most else None for c, most in marking.tokens.items()}
                if (limit, tokens) != (marking.limit, marking.tokens):
                    marking = self._with_copycats(Marking(marking.control, limit, tokens))
            above = above.parent
        return _Node(marking, node.parent)

    def _control(self, number: int) -> int:
        """The control state with what is forgotten that is not looked at any more."""
        if number not in self._same:
            here = self.crowd.controls[number]
            threads = tuple(self._forgetting(t, each) for t, each in zip(self.crowd.named, here.threads, strict=True))
            hero, marks = here.hero, here.marks
            if hero is not None:
                place = self.crowd.templates[hero.template].places[0]
                hero = replace(hero, local=self._forgetting(place, hero.local))
            if marks is not None and not self._facts[marks.pivot.thread].looks_at(marks.pivot.cell):
                marks = marks.without_value()
            self._same[number] = self.crowd.number(replace(here, threads=threads, hero=hero, marks=marks))
        return self._same[number]

    def _copy(self, number: int) -> int:
        if number not in self._same_copy:
            here = self.crowd.copies[number]
            template = self.crowd.templates[here.template]
            place = template.places[1]
            local = self._forgetting(place, here.local)
            limit = self._open_of(place, template.remotes, here.local, here.limit)
            self._same_copy[number] = self.crowd.copy_number(replace(here, local=local, limit=self._wide(here, limit)))
        return self._same_copy[number]

    def _wide(self, copy: CopyState, limit: Limit) -> Limit:
        """The limits of a copy that has loops, with those that are large taken for any number."""
        template = self.crowd.templates[copy.template]
        facts = self._facts[template.places[1]]
        if not facts.loops:
            return limit
        most = max(_WIDENED, len(steps(template.thread)))
        if any(each is not None and each > most for each in limit):
            self._widened = True
        return tuple(None if each is None or each > most else each for each in limit)

    def _forgetting(self, thread: int, local: LocalState) -> LocalState:
        """The same with the registers left open that are not read any more."""
        live = self._facts[thread].live(local)
        known = zip(self.crowd.readings[thread].names, local.registers, strict=True)
        registers: tuple[Value, ...] = tuple(value if name in live else None for name, value in known)
        return replace(local, registers=registers)

    def _open(self, control: int, limit: Limit) -> Limit:
        """The limits without those of queue pairs that their thread does not poll any more."""
        here = self.crowd.controls[control]
        at = dict(zip(self.crowd.named, here.threads, strict=True))
        polled = [self._facts[t].polls_ahead(at[t].point, remote) for t, remote in self.crowd.counted]
        width = self.crowd.counters
        common = tuple(most if polled[i // width] else None for i, most in enumerate(limit[: width * len(polled)]))
        if here.hero is None:
            return common
        template = self.crowd.templates[here.hero.template]
        return (*common, *self._open_of(template.places[0], template.remotes, here.hero.local, limit[width * len(polled) :]))

    def _open_of(self, place: int, remotes: tuple[str, ...], local: LocalState, limit: Limit) -> Limit:
        polled = [self._facts[place].polls_ahead(local.point, remote) for remote in remotes]
        return tuple(most if polled[i // self.crowd.counters] else None for i, most in enumerate(limit))


def _below(small: Marking, large: Marking) -> bool:
    """Whether every state of the one is of the other, which has the same control state."""
    if not limit_covers(large.limit, small.limit):
        return False
    for copy, most in small.tokens.items():
        limit = large.tokens.get(copy, 0)
        if limit is not None and (most is None or most > limit):
            return False
    return True


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def must_be_certain(found: FoundCrowd) -> None:
    """Raise for a violation where the verdict is ROBUST: SizeLimitError where it may be none, else InternalError."""
    if found.violation is None:
        return
    if found.widened:
        raise SizeLimitError(
            "the completions of a copy have no bound, and with any number the checker's rules find a violation"
        )
    if found.crowd.steps.rules.choices:
        raise SizeLimitError("the checker's rules find what may be a violation, and no more than that")
    raise InternalError(f"{found.crowd.program.file}: decided robust, but the checker's rules find a violation")
