"""The search for a repair of C: sets of insertions by their cost, each read, evaluated and decided.

A set that is not enough leaves a violating run. What is put in where no thread of the run comes by does not change it, and
what is put between two parts of a thread of which none overtakes the other adds nothing to its order. So a set that will do
has an insertion where in that run something behind it takes effect before something in front of it; only these are
tried, the cheapest set first. Whether a set will do is not argued: its text is read and decided, its hangs and faults are
compared with those of the program. It is not claimed that no other set is cheaper.
"""

from __future__ import annotations

import heapq
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count as numbers
from typing import Final

from rdma_robust.analyses.repair.cheapest import Checker, checker_of
from rdma_robust.analyses.repair.edits import text_edits
from rdma_robust.analyses.repair.in_c.c_insertions import FLAGS, CInsertion, CInsertions, PatchedFile, by_file
from rdma_robust.analyses.repair.keeping import HANG_STATES, where_of
from rdma_robust.analyses.repair.patch import unified
from rdma_robust.analyses.repair.repairs import Insertion, Repair, RepairOptions, RepairSolution
from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.c.front.statement_places import StatementFinder
from rdma_robust.c.read_c import read_c, units_of
from rdma_robust.digraph import by_key
from rdma_robust.errors import LimitReached, ProgramError, Span
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import decidable, load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.semantics.trace import Event
from rdma_robust.text import count
from rdma_robust.value_ranges import file_of

SILENT: Final = "RR845"
"""The warning about a process that does nothing, of which a repair makes none."""

SCOPE: Final = "polling loops, flushes, fences and flags of requests beside statements of the C that access memory"

NO_READ_BACK: Final = "reads back, which make sure that a put has landed, are not put into C with verbs"

Chosen = frozenset[CInsertion]


def repair_c(text: str, file: str, options: RepairOptions, limits: CheckOptions) -> Repair:
    """Return a repair of the C in `text`; `options` and `limits` are as those of :func:`~.plan.repair`.

    The patched text of each solution was read and is robust, has no hang that the program has not, and meets no fault
    that it does not. Raises ProgramError and UsageError as reading C does.
    """
    started = time.monotonic()
    program = decidable(load_program(text, file))
    limits = limits.on(program.hardware)
    deadline = None if options.timeout is None else started + options.timeout
    checker = checker_of(Checker, file, limits, options, deadline)
    search = _Search(text, program, checker, options)
    try:
        found = search.run()
    except LimitReached as reached:
        found = Repair("unknown", str(reached))
    return replace(found, checked=checker.checked, cycles=len(search.clauses), time_s=time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class _SetJudgement:
    """The answer about a set: whether it is good, None if that is not known; `why` not, or the outcome with a violation."""

    good: bool | None
    why: str
    hangs: str = ""
    outcome: Outcome | None = None


@dataclass
class _Search:
    """One search; `clauses` are sets, each with the insertions of which every larger set that will do has one."""

    text: str
    program: Program
    checker: Checker
    options: RepairOptions
    clauses: list[tuple[Chosen, Chosen]] = field(default_factory=list)
    undecided: int = 0
    refused: str = ""
    _numbers: Iterator[int] = field(default_factory=numbers)

    @cached_property
    def insertions(self) -> CInsertions:
        path = file_of(self.program.file)
        finder = StatementFinder(units_of(self.text, self.program.file), {path: self.text})
        buffers = any(model.cpu == "tso" for model in self.checker.models)
        return CInsertions(self.program, finder, path, buffers)

    @cached_property
    def _hung(self) -> bool:
        """Whether the program itself hangs, or may."""
        return self._hangs(self.program) != "none"

    @cached_property
    def _first(self) -> Outcome:
        return self._decided(self.program)

    def run(self) -> Repair:
        """Return the first set that will do, by cost; or all that are found of which nothing can be left out."""
        first = self._first
        if first.verdict is not Verdict.NOT_ROBUST:
            is_robust = first.verdict is Verdict.ROBUST
            return Repair("robust" if is_robust else "unknown", first.reason, optimal=is_robust)
        queue: list[tuple[int, int, int, Chosen]] = []
        seen: set[Chosen] = set()
        good: dict[Chosen, RepairSolution] = {}
        self._follow(frozenset(), self._clause(frozenset(), {}, first), queue, seen)
        while queue:
            chosen = heapq.heappop(queue)[-1]
            if self.checker.late and not good:
                return Repair("unknown", self._missing("the time is over before a repair was found"))
            if self.checker.late or len(good) >= (self.options.most_solutions if self.options.all_minimal else 1):
                break
            if any(each <= chosen for each in good):
                continue
            known = next((clause for base, clause in self.clauses if base <= chosen and not clause & chosen), None)
            if known is not None:
                self._follow(chosen, known, queue, seen)
                continue
            files = self._files(chosen)
            judged = self._judge(files)
            if judged.good:
                good[chosen] = self._solution(chosen, files, judged)
            elif judged.outcome is not None:
                self._follow(chosen, self._clause(chosen, files, judged.outcome), queue, seen)
            elif judged.good is None:
                self.undecided += 1
            self.refused = judged.why or self.refused
        if not good:
            return Repair("unknown", self._missing(f"none of what was tried will do: {SCOPE}; {NO_READ_BACK}"))
        left = f"; of {count(self.undecided, 'set')} it is not known" if self.undecided else ""
        return Repair("repaired", f"the cheapest found among {SCOPE}{left}", tuple(good.values()), scope=SCOPE)

    def _follow(self, chosen: Chosen, clause: Chosen, queue: list[tuple[int, int, int, Chosen]], seen: set[Chosen]) -> None:
        """Add what is tried next: a set with one insertion more of a clause that it leaves."""
        for each in sorted(clause - chosen, key=lambda one: one.order):
            more = chosen | {each}
            if more not in seen:
                seen.add(more)
                price = sum(one.cost(self.options.costs) for one in more)
                copies = sum(len(one.places) for one in more)
                heapq.heappush(queue, (price, copies, next(self._numbers), more))

    def _clause(self, chosen: Chosen, files: Mapping[str, PatchedFile], outcome: Outcome) -> Chosen:
        """Return the insertions that may change the violation that a set leaves, and note them."""
        assert outcome.witness is not None
        own, finder = self.insertions.file, self.insertions.finder
        overtaken = _overtaken(outcome.witness, _Origins(own, finder, files))
        given = _Origins(own, finder, {})
        found = frozenset(
            each
            for each in self.insertions.all
            if any((thread, given.where(span), each.kind in FLAGS) in overtaken for thread, span in each.places)
        )
        self.clauses.append((chosen, found))
        return found

    def _files(self, chosen: Chosen) -> dict[str, PatchedFile]:
        ordered = sorted(chosen, key=lambda each: each.order)
        texts = {each.statement.file: self.insertions.finder.text(each.statement.file) for each in ordered}
        return by_file(ordered, texts)

    def _decided(self, program: Program) -> Outcome:
        return self.checker.decide(spin_assumed(program, self.checker.options.await_loops))

    def _judge(self, files: Mapping[str, PatchedFile]) -> _SetJudgement:
        own = self.insertions.file
        changed = {file: patched.text for file, patched in files.items() if file != own}
        try:
            program, _ = read_c(files[own].text if own in files else self.text, self.program.file, changed)
            outcome = self._decided(decidable(program))
        except ProgramError as error:
            return _SetJudgement(False, f"`{error.diagnostics[0].message}`")
        if outcome.verdict is Verdict.NOT_ROBUST:
            return _SetJudgement(False, "", outcome=outcome)
        if outcome.verdict is Verdict.UNKNOWN:
            return _SetJudgement(None, outcome.reason)
        worse = self._worse(program, outcome)
        if worse:
            return _SetJudgement(False, worse)
        hangs = self._hangs(program)
        if hangs != "none" and not self._hung:
            return _SetJudgement(False if hangs == "hang" else None, "a thread waits forever that does not without it")
        return _SetJudgement(True, "", "kept" if hangs == "hang" else hangs)

    def _worse(self, program: Program, outcome: Outcome) -> str:
        """Return which fault a robust program may meet that the one that was given does not; '' if none."""
        known = {(fault.kind, fault.message) for fault in self._first.faults}
        new = next((fault for fault in outcome.faults if (fault.kind, fault.message) not in known), None)
        if new is not None:
            return f"{new.kind}: {new.message}"
        silent = [sum(each.code == SILENT for each in one.warnings) for one in (self.program, program)]
        return "a process does nothing any more" if silent[1] > silent[0] else ""

    def _hangs(self, program: Program) -> str:
        """Return `none`, `hang`, or `unknown` where a limit comes first."""
        limits = Limits(deadline=self.checker.deadline, states=HANG_STATES)
        hardware = replace(self.checker.options.model, cpu="sc", order=RDMA.order)
        found = find_hang(program, "sc", limits, hardware).answer.answer
        return {Answer.UNREACHABLE: "none", Answer.REACHABLE: "hang"}.get(found, "unknown")

    def _solution(self, chosen: Chosen, files: Mapping[str, PatchedFile], judged: _SetJudgement) -> RepairSolution:
        own = self.insertions.file
        texts = {file: self.insertions.finder.text(file) for file in files}
        diff = "".join(unified(texts[file], patched.text, _named(file)) for file, patched in files.items())
        rows = []
        for file, patched in files.items():
            here = sorted((each for each in chosen if each.statement.file == file), key=lambda each: each.order)
            rows += [self._row(*pair, patched.text) for pair in zip(here, patched.starts, strict=True)]
        rows.sort(key=lambda row: row.line)
        mine = files.get(own)
        return RepairSolution(
            tuple(rows),
            sum(row.cost for row in rows),
            (),
            self.text if mine is None else mine.text,
            diff,
            edits=() if mine is None else text_edits(self.text, mine.edits),
            hangs=judged.hangs,
            elsewhere=tuple(_named(file) for file in files if file != own),
        )

    def _row(self, each: CInsertion, start: int, text: str) -> Insertion:
        names = dict.fromkeys(self.program.threads[number].name for number, _ in sorted(each.places, key=lambda p: p[0]))
        line = text.count("\n", 0, start) + 1
        return Insertion(each.kind, ", ".join(names), each.node, line, (each.text,), each.cost(self.options.costs))

    def _missing(self, why: str) -> str:
        """Return `why` there is no repair, and which order is missing, in words."""
        assert self._first.witness is not None
        pairs = [f"{_said(a)} and {_said(b)}" for a, b in self._first.witness.relaxed[:2]]
        said = f"; to be kept in order: {'; '.join(pairs)}" if pairs else ""
        last = f"; of the last set {self.refused}" if self.refused else ""
        return f"{why}{last}{said}"


def _named(file: str) -> str:
    """Return the name of a file without what libclang adds to it."""
    return file.removeprefix("./")


def _said(event: Event) -> str:
    if event.step is None:
        return "a step"
    places, here = list[str](), event.step.span
    chain: Span | None = here
    while chain is not None:
        places.append(f"{chain.file}:{chain.line}" if chain.file else f"line {chain.line}")
        chain = chain.origin
    return f"`{event.step.text}` ({' from '.join(places)})"


StepOrigin = tuple[tuple[str, int] | None, ...]
"""Places of a step in the C that was given, with the calls outwards: each a file and an offset, None in what was put in."""


@dataclass(frozen=True)
class _Origins:
    """Finds where steps of a patched program are in the one that was given. `own` is the file that spans do not name."""

    own: str
    finder: StatementFinder
    files: Mapping[str, PatchedFile]

    def where(self, span: Span) -> StepOrigin:
        """Return where a step with this span is."""
        found = list[tuple[str, int] | None]()
        here: Span | None = span
        while here is not None:
            found.append(self._offset(here.file or self.own, here))
            here = here.origin
        return tuple(found)

    def _offset(self, file: str, span: Span) -> tuple[str, int] | None:
        starts, back = self._lines(file)
        if span.line > len(starts):
            return None
        offset = back(starts[span.line - 1] + span.column - 1)
        return None if offset is None else (file, offset)

    @cached_property
    def _known(self) -> dict[str, tuple[list[int], Callable[[int], int | None]]]:
        return {}

    def _lines(self, file: str) -> tuple[list[int], Callable[[int], int | None]]:
        if file not in self._known:
            text = self.files[file].text if file in self.files else self.finder.text(file)
            starts = [0, *(each.end() for each in re.finditer("\n", text))]
            self._known[file] = starts, where_of(self.files[file].edits) if file in self.files else _same
        return self._known[file]


def _same(offset: int) -> int:
    return offset


def _overtaken(witness: Witness, moved: _Origins) -> set[tuple[int, StepOrigin, bool]]:
    """Return the steps, by thread and place, behind which (or in front of which, for flags) something takes effect before
    something in front of it."""
    moment = {event.index: number for number, event in enumerate(witness.order)}
    threads = by_key((event.thread, event) for event in witness.order)
    found = set()
    for thread, events in threads.items():
        events.sort(key=lambda event: event.position)
        latest = [max(moment[one.index] for one in events[: number + 1]) for number in range(len(events))]
        earliest = [min(moment[one.index] for one in events[number:]) for number in range(len(events))]
        for number, event in enumerate(events):
            if event.step is None:
                continue
            behind = number + 1 < len(events) and latest[number] > earliest[number + 1]
            front = number > 0 and latest[number - 1] > earliest[number]
            if behind:
                found.add((thread, moved.where(event.step.span), False))
            if behind or front:
                found.add((thread, moved.where(event.step.span), True))
    return found
