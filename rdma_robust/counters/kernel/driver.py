"""The compiled searches: what search.py does for a lowered program, on packed states, by the extension module _kernel.

Both explore in the same order and must find the same states, transitions and runs; the tests compare them.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final, Generic, TypeVar

from rdma_robust.counters.independence import LONGEST_CHAIN, NOWHERE, independence
from rdma_robust.counters.karp_miller_tree import realise_path
from rdma_robust.counters.kernel.arrangement import sorting_tables, with_equal_room
from rdma_robust.counters.kernel.bytecode import Assembler
from rdma_robust.counters.kernel.packing import Packing, Range, UnsupportedError, neighbourhoods, pack
from rdma_robust.counters.kernel.workers import KernelText, Workers
from rdma_robust.counters.program import Command, CounterProgram, Target, pc
from rdma_robust.counters.searches import SearchResult
from rdma_robust.counters.vass import Control, CounterEffect
from rdma_robust.digraph import by_key
from rdma_robust.limits import MANY, MOST_NUMBERS, Limits, Progress

_LAYOUT = 11

try:
    from rdma_robust.counters.kernel._code import Status
    from rdma_robust.counters.kernel._kernel import LAYOUT, Search
    from rdma_robust.counters.kernel._look_ahead import Look
    from rdma_robust.counters.kernel.search_plan import SearchPlan
    from rdma_robust.counters.parts.all_parts import Hosts, SearchParts
    from rdma_robust.counters.parts.checkpoint import Checkpoint
    from rdma_robust.counters.parts.local import hosts_of
    from rdma_robust.counters.parts.search_part import RoundReport
except ImportError:
    AVAILABLE = False
else:
    AVAILABLE = LAYOUT == _LAYOUT and hasattr(Look, "dead")
"""Whether the extension module is there and built from this version; without a C compiler there is none."""

Label = TypeVar("Label")
Targets = tuple[tuple[int, int, int], ...]
"""Where the test of the targets starts that are of a process, or of none, at a location."""

_FIRST_BUDGET, _SECONDS = 256, 0.03
_ENDS: Final = ("FOUND", "WIDE", "OVERFLOW", "STATES", "NUMBERS", "MEMORY", "CODE", "DONE")
"""How threads end, what decides first."""
_CUT: Final = {"STATES": "states", "MEMORY": "memory", "NUMBERS": "numbers"}
"""The limits at which the kernel stops in the middle of a state, by the name of its status."""
_SMALL = 30
"""The largest value that a variable of a large domain is given room for at first: with -1, five bits."""


@dataclass(frozen=True)
class KernelResult(Generic[Label]):
    """A search result with the labels of its run and of the enabled transitions; `bytes` is the memory of the search.

    Where states stand for others that are alike there is no run; `kept` are the states that stand for those of one.
    `threads` have searched, or `parts` in processes of their own, before one did it again where these had found a target.
    """

    result: SearchResult
    run: list[Label]
    fired: list[Label]
    bytes: int
    kept: tuple[Control, ...] = ()
    threads: int = 1
    parts: int = 0


def search(
    program: CounterProgram[Label],
    bounds: Mapping[str, int | None],
    limits: Limits,
    progress: Progress,
    *,
    engine: str,
    reduce: bool,
) -> KernelResult[Label]:
    """Search for a target of `program`, whose counters have these `bounds`, as search.ENGINES[engine] does.

    Raises UnsupportedError if a number does not fit into 62 bits, there are more than 64 processes, or
    the program's pruner has no tables.
    """
    if len(program.processes) > 64:
        raise UnsupportedError
    ranges = {name: _guess(least, most) for name, least, most in program.ranges}
    ranges |= {name: (0, (1 << bits) - 1) for name, bits in program.sizes}
    where = cache(partial(neighbourhoods, program))
    found: KernelResult[Label] | None = None
    while True:
        try:
            run = _Run(program, bounds, ranges, engine, reduce=reduce, where=where)
            with run.all_workers:
                status = run.go(limits, progress)
                if not run.alone:
                    limits.shared(*run.searchers)
                if status == Status.FOUND and not run.alone:
                    found, limits = run.result(status), limits.alone()
                elif status != Status.WIDE:
                    result = run.result(status)
                    if found is None:
                        return result
                    return replace(result, threads=found.threads, parts=found.parts) if status == Status.FOUND else found
                else:
                    ranges |= run.wider()
        except MemoryError:
            return KernelResult(SearchResult(-1, (), 0, 0, frozenset(), "memory"), [], [], 0)


def _guess(least: int, most: int) -> Range:
    """Return a range to begin with: programs rarely use all of a large domain."""
    return max(least, -1), max(least, -1, min(most, _SMALL))


def _with(limits: Range, value: int) -> Range:
    return min(limits[0], value), max(limits[1], value)


def _wider(limits: Range, value: int) -> Range:
    """Return a range with `value` that has, so that few more steps are needed, up to eight bits more than the old one."""
    least, most = min(limits[0], value), max(limits[1], value)
    old = limits[1] - limits[0] + 1
    size = max(most - least + 1, old * min(old, 256))
    return (most - size + 1, most) if value < limits[0] else (least, least + size - 1)


class _Run(Generic[Label]):
    """One program in the kernel, with fields of fixed ranges."""

    def __init__(
        self,
        program: CounterProgram[Label],
        bounds: Mapping[str, int | None],
        ranges: Mapping[str, Range],
        engine: str,
        *,
        reduce: bool,
        where: Callable[[tuple[str, ...]], Sequence[float]],
    ) -> None:
        self.program = program
        bounded = [(c, 0) for c in program.counters if bounds[c] is not None]
        start = [*((pc(i), p.entry) for i, p in enumerate(program.processes)), *program.variables, *bounded]
        unbounded = [c for c in program.counters if bounds[c] is None]
        self.fields = [name for name, _ in start]
        self.values = [value for _, value in start]
        self.commands = [_by_source(p.commands) for p in program.processes]
        last = _last_locations(program)
        known = {pc(i): (0, n) for i, n in enumerate(last)}
        known |= {c: (0, b) for c, b in bounds.items() if b is not None}
        known |= ranges
        self.ranges = [_with(known.get(name, (0, 1)), value) for name, value in start]
        self.alike = () if unbounded else program.alike
        self.ranges = with_equal_room(self.alike, self.fields, self.ranges)
        packing = pack(self.ranges, lambda: where(tuple(self.fields)))
        self.ranges = [(least, least + mask) for least, mask, _, _ in packing.fields]
        self.assembler: Assembler[Label] = Assembler(self.fields, self.ranges, unbounded)
        self.independence = independence(program) if reduce else None
        self.accelerate = engine == "karp-miller"
        self.plan = self._plan(packing, last, by_rank=engine != "bfs")
        self._like = partial(self.plan.search, len(unbounded), accelerate=engine == "karp-miller", most=MOST_NUMBERS)
        self.packing = packing
        self.kernel = self._like()
        self.workers: Workers | SearchParts = Workers(self.kernel)
        self.all_workers = ExitStack()
        self.all_workers.push(self.workers)
        self.places: list[tuple[int, int, int, tuple[int, ...], bool]] = []
        self.asked: list[tuple[int, int]] = []
        self.kept: Checkpoint | None = None
        self.loaded = 0
        self.ends: list[int] = []
        self.cut = ""
        self.targets: dict[tuple[int | None, int], list[tuple[int, Target[Any]]]] = {}
        for number, target in enumerate(program.targets):
            at = (target.process, target.location if target.process is not None else 0)
            self.targets.setdefault(at, []).append((number, target))

    def _plan(self, packing: Packing, last: list[int], *, by_rank: bool) -> SearchPlan:
        """The search over states that are packed so. Raises UnsupportedError if the pruner has no tables."""
        program = self.program
        ahead = program.pruner.tables(self.fields) if program.pruner is not None else None
        if program.pruner is not None and ahead is None:
            raise UnsupportedError
        column = {name: i for i, name in enumerate(self.fields)}
        return SearchPlan(
            packing.words,
            packing.pairs,
            list(packing.fields),
            self._numbers(last),
            [self.fields.index(name) for name in program.milestones],
            reduce=self.independence is not None,
            by_rank=by_rank,
            longest_chain=LONGEST_CHAIN,
            ahead=None if ahead is None else (last, *ahead),
            alike=sorting_tables(self.alike, packing, column).arguments() if self.alike else None,
            masks=[],
            owners=[],
        )

    def _numbers(self, last: list[int]) -> list[list[int]]:
        """The numbers that processes advance by, location by location."""
        if self.independence is None:
            return [[0] * (n + 1) for n in last]
        places = self.independence.places
        return [[at.get(i, NOWHERE).number for i in range(n + 1)] for at, n in zip(places, last, strict=True)]

    def go(self, limits: Limits, progress: Progress) -> int:
        """Search until done, found, cut or in need of a wider field; return the kernel's status."""
        kernel = self.kernel
        targets = tuple(
            (-1 if at is None else at, location, self.assembler.test(targets))
            for (at, location), targets in self.targets.items()
        )
        for process, p in enumerate(self.program.processes):
            self._compile(process, p.entry)
        self._load(targets)
        kernel.start(self.values)
        if kernel.target_at_start():
            return Status.FOUND
        self._go_on(limits, targets)
        budget = _FIRST_BUDGET
        while True:
            progress(self.workers.states, self.workers.states - self.workers.done)
            self.cut = limits.exceeded()
            if self.cut:
                return Status.BUDGET
            if self.alone and self.workers.states >= MANY and not self.assembler.column:
                self._take_on(limits, targets)
            started = time.perf_counter()
            self.ends = self.workers.run(budget, limits)
            status = next((end for name in _ENDS if (end := Status[name]) in self.ends), Status.BUDGET)
            if status == Status.CODE:
                self._complete()
            elif status != Status.BUDGET:
                self.cut = _CUT.get(Status(status).name or "", "")
                return status
            else:
                seconds = time.perf_counter() - started
                budget = max(_FIRST_BUDGET, int(budget * min(4.0, _SECONDS / max(seconds, 1e-6))))

    def _take_on(self, limits: Limits, targets: Targets) -> None:
        """Search on with others, if there are to be any: threads, or processes, who begin anew. Not with unbounded counters,
        for which the order matters."""
        if limits.executor:
            hosts = hosts_of(limits.executor)
            self._divide(hosts, self.plan.divided(self.kernel, hosts.count), targets)
        elif limits.threads > 1:
            assert isinstance(self.workers, Workers)
            self.workers.grow(self._like, limits.threads)
            self._load()

    def _go_on(self, limits: Limits, targets: Targets) -> None:
        """Go on from the checkpoint of another run, if there is one: with its code, compiled in the same order."""
        if not limits.executor or not limits.checkpoint or self.assembler.column:
            return
        kept = self.kept = Checkpoint(limits.checkpoint, self.plan, self.values, self._text(targets), self.asked)
        if kept.saved is None:
            return
        with suppress(IndexError):  # it is the checkpoint of a search that went on in another way
            for process, location in kept.saved.asked:
                self._ask(process, location)
        self._load()
        kept.begin(self._text(targets))
        if kept.saved is not None:
            self._divide(hosts_of(limits.executor), self.plan, targets)

    def _text(self, targets: Targets) -> KernelText:
        """All that is compiled so far."""
        return KernelText(self._code(), tuple(self.places), targets)

    def _divide(self, hosts: Hosts, plan: SearchPlan, targets: Targets) -> None:
        """Search on in parts."""
        self.kernel = self._like()  # the states that it has are found once more, each where it belongs
        parts = SearchParts(hosts, plan, self.values, self._text(targets), self.kept)
        self.workers = self.all_workers.enter_context(parts)

    @property
    def alone(self) -> bool:
        """One thread of this process does it all."""
        return isinstance(self.workers, Workers) and self.workers.count == 1

    @property
    def searchers(self) -> tuple[int, int]:
        """How many threads there are, and how many processes that have a part of the states each."""
        count = self.workers.count
        return (count, 0) if isinstance(self.workers, Workers) else (1, count)

    def wider(self) -> dict[str, Range]:
        """The field that was too narrow, with a range that has room for what it was to be."""
        member = self.workers.members[self.ends.index(Status.WIDE)]
        return {self.fields[member.wide_field]: _wider(self.ranges[member.wide_field], member.wide_value)}

    def _complete(self) -> None:
        """Compile what workers came to and found no code for."""
        members: Sequence[Search | RoundReport] = self.workers.members
        needs = {(m.need_process, m.need_location) for m, end in zip(members, self.ends, strict=True) if end == Status.CODE}
        for process, location in sorted(needs):
            self._ask(process, location)
        self._load()

    def _ask(self, process: int, location: int) -> None:
        """Compile what somebody has asked for: what a process does at a location, or what was left for later."""
        if process < 0:
            self.assembler.complete(location)
        else:
            self._compile(process, location)
        self.asked.append((process, location))

    def result(self, status: int) -> KernelResult[Label]:
        """Return what the search found. Raises OverflowError if a counter grew beyond all bounds."""
        members: Sequence[Search | RoundReport] = self.workers.members
        member = next((m for m, end in zip(members, self.ends, strict=False) if end == status), members[0])
        if status == Status.OVERFLOW:
            raise OverflowError("a counter came near the number that stands for omega")
        workers, fired = self.workers, self.workers.fired
        cut = status != Status.BUDGET and self.cut
        halfway = sum(end == status for end in self.ends) if cut and isinstance(workers, Workers) else 0
        frontier = workers.states - (workers.done - halfway)
        target = member.found if status == Status.FOUND else -1
        path = self._path(member) if status == Status.FOUND else []
        kept = self._kept(path) if self.alike else ()
        run = self._run(path) if path and not self.alike else ()
        result = SearchResult(target, run, workers.states, workers.transitions, frozenset(fired), self.cut, frontier)
        labels = self.assembler.labels
        told = [labels[i] for i in run], [labels[i] for i in fired]
        return KernelResult(result, *told, workers.bytes, kept, *self.searchers)

    def _path(self, member: Search | RoundReport) -> list[tuple[list[int], list[int]]]:
        """The labels taken, and the packed fields, of each state on the way to the one that a member has found."""
        if isinstance(self.workers, SearchParts):
            assert isinstance(member, RoundReport)
            return self.workers.path(member)
        assert isinstance(member, Search)
        return member.path(member.found_state)

    def _kept(self, path: list[tuple[list[int], list[int]]]) -> tuple[Control, ...]:
        """The states on the way to the one that was found."""
        return tuple(tuple(least + (words[w] >> s & m) for least, m, w, s in self.packing.fields) for _, words in path)

    def _run(self, path: list[tuple[list[int], list[int]]]) -> tuple[int, ...]:
        """The transitions to the state that was found, accelerations unrolled."""
        order: Iterable[int] = range(1, len(path))
        if self.assembler.column:
            effects = [CounterEffect(*e) for e in self.assembler.effects]
            steps = [(i, tuple(words), self.assembler.label_effects[taken[0]]) for i, (taken, words) in enumerate(path)]
            order = realise_path(effects, steps, accelerate=self.accelerate)
        return tuple(label for i in order for label in path[i][0])

    def _compile(self, process: int, location: int) -> None:
        commands = self.commands[process].get(location, [])
        place = self.independence.places[process].get(location, NOWHERE) if self.independence else NOWHERE
        start = self.assembler.moves(process, commands) if commands else -1
        footprints = tuple(_fold(m) for f in (place.next, place.future) for m in (f.reads, f.writes))
        self.places.append((process, location, start, footprints, place.local))

    def _load(self, targets: Targets = ()) -> None:
        self.workers.load(KernelText(self._code(), tuple(self.places[self.loaded :]), targets))
        self.loaded = len(self.places)

    def _code(self) -> tuple[Any, ...]:
        a = self.assembler
        effects = array("q", [n for guard, delta in a.effects for n in (*guard, *delta)])
        return a.code, a.slots, a.leaves, a.changes, effects, a.table, len(a.labels)


def _by_source(commands: tuple[Command[Label], ...]) -> dict[int, list[Command[Label]]]:
    return by_key((command.source, command) for command in commands)


def _last_locations(program: CounterProgram[Any]) -> list[int]:
    """The greatest location of each process."""
    last = [max([p.entry, *(x for c in p.commands for x in (c.source, c.target))]) for p in program.processes]
    for target in program.targets:
        if target.process is not None:
            last[target.process] = max(last[target.process], target.location)
    return last


def _fold(mask: int) -> int:
    """Map a set of any number of cells to 64 bits; sets that meet still do."""
    folded = 0
    while mask:
        folded |= mask & (1 << 64) - 1
        mask >>= 64
    return folded
