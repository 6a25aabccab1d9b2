"""Records that the reports of `cover` are written from, one for each net (`schema/cover.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rdma_robust.errors import InternalError
from rdma_robust.frame.answer import DiagnosticView, ErrorKind, JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, expected_cell, verdict_totals
from rdma_robust.frame.formats.columns import Column
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.question import Layout, View
from rdma_robust.petri.net import (
    EnumeratedInvariant,
    Firing,
    Invariant,
    Net,
    NetRun,
    RepeatedFirings,
    StagedInvariant,
    Vector,
)
from rdma_robust.reports.share.totals import Verdicts
from rdma_robust.text import count, filled, one_line, printable

CoverVerdict = Literal["safe", "unsafe", "unknown", "error"]
_LONGEST_PERIOD = 64
"""Rules that are looked at as one repeated group."""
_UNROLLED = 1_000
"""Rules of a loop that is written out, to be folded with what stands around it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """How many tokens a place has, is tested for, gains or (negative) loses."""

    place: str
    tokens: int


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule fired `times` times in a row: its number (from 1) and line, what it tests beyond what it takes, its effect."""

    rule: int
    line: int
    times: int
    tests: tuple[Tokens, ...]
    effect: tuple[Tokens, ...]


@dataclass(frozen=True, slots=True)
class FiringStep:
    """`rules` one after the other, all of it `times` times; `after` is the marking then, if it was asked for."""

    times: int
    rules: tuple[RuleView, ...]
    after: tuple[Tokens, ...] | None


@dataclass(frozen=True, slots=True)
class FiringSequence:
    """A firing sequence of `length` rules from marking `start` to `end`, which covers `target` (number `cone`, from 1).

    Markings list the places that have tokens.
    """

    start: tuple[Tokens, ...]
    length: int
    steps: tuple[FiringStep, ...]
    end: tuple[Tokens, ...]
    cone: int
    target: tuple[Tokens, ...]


@dataclass(frozen=True, slots=True)
class InvariantView:
    """The proof that a net is safe: the kind of set or formula, and of how many elements."""

    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class CoverRecord:
    """The answer for one file. `error_kind` is set exactly when `verdict` is `error`.

    `stored` counts the markings or basis elements the engine kept; `expected` is the comment `# expect: ...` of the file.
    """

    file: str
    verdict: CoverVerdict
    reason: str
    error_kind: ErrorKind | None = None
    expected: Literal["safe", "unsafe"] | None = None
    as_expected: bool | None = None
    engine: str | None = None
    places: int = 0
    rules: int = 0
    targets: int = 0
    stored: int = 0
    time_s: float = 0.0
    errors: tuple[DiagnosticView, ...] = ()
    invariant: InvariantView | None = None
    run: FiringSequence | None = None


def firing_sequence(net: Net, run: NetRun, markings: bool) -> FiringSequence:
    """Return `run` for reports, replayed; with `markings`, each step has the marking after it.

    Raises InternalError if it is not a run of `net` that covers its target.
    """
    player = _Player(net, run)
    views: dict[tuple[int, int], RuleView] = {}
    steps = []
    for times, group in grouped(run.transitions):
        player.fire(times, group)
        after = player.tokens() if markings else None
        for rule in group:
            if rule not in views:
                views[rule] = _rule(net, *rule)
        steps.append(FiringStep(times, tuple(views[rule] for rule in group), after))
    target = net.targets[run.target]
    player.confirm(target)
    start = _tokens(net, enumerate(run.start))
    return FiringSequence(start, run.length, tuple(steps), player.tokens(), run.target + 1, _tokens(net, target))


def invariant_view(invariant: Invariant | EnumeratedInvariant) -> InvariantView:
    """Return what kind of proof an engine gave; its size is the length of its longest part."""
    if isinstance(invariant, EnumeratedInvariant):
        return InvariantView("enumerated", invariant.markings)
    if isinstance(invariant, StagedInvariant):
        return InvariantView("staged", len(invariant.never) + invariant_view(invariant.rest).size)
    kind = type(invariant).__name__.removesuffix("Invariant").lower()
    parts = [getattr(invariant, name) for name in invariant.__slots__]
    return InvariantView(kind, max(len(part) for part in parts if isinstance(part, tuple)))


Group = tuple[tuple[int, int], ...]
"""(transition, times) pairs, one after the other."""


def grouped(transitions: Sequence[Firing]) -> list[tuple[int, Group]]:
    """Return (times, group) pairs: the loops, repeated transitions, and repeated short sequences of these."""
    groups: list[tuple[int, Group]] = []
    runs: list[tuple[int, int]] = []
    for firing in transitions:
        loop = firing if isinstance(firing, RepeatedFirings) else RepeatedFirings(1, ((firing, 1),))
        if len(loop.body) > 1 and loop.times * len(loop.body) > _UNROLLED:
            groups += [*_folded(runs), (loop.times, loop.body)]
            runs = []
            continue
        single = len(loop.body) == 1
        for transition, number in loop.body * (1 if single else loop.times):
            times = runs.pop()[1] if runs and runs[-1][0] == transition else 0
            runs.append((transition, times + number * (loop.times if single else 1)))
    return groups + _folded(runs)


def _folded(runs: Sequence[tuple[int, int]]) -> list[tuple[int, Group]]:
    following = _next_equal(runs)
    groups: list[tuple[int, Group]] = []
    at = 0
    while at < len(runs):
        period, times = _repetition(runs, following, at)
        groups.append((times, tuple(runs[at : at + period])))
        at += period * times
    return groups


def _next_equal(runs: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each element where the next equal one stands, the length of the sequence if there is none."""
    last: dict[tuple[int, int], int] = {}
    following = [len(runs)] * len(runs)
    for at in range(len(runs) - 1, -1, -1):
        following[at] = last.get(runs[at], len(runs))
        last[runs[at]] = at
    return following


def _repetition(runs: Sequence[tuple[int, int]], following: Sequence[int], at: int) -> tuple[int, int]:
    """Return (period, times) of the repetition that covers most from `at` on; (1, 1) if nothing is repeated."""
    best, covered = (1, 1), 1
    again = following[at]
    while again < len(runs) and again - at <= _LONGEST_PERIOD:
        period, end = again - at, again
        while end < len(runs) and runs[end] == runs[end - period]:
            end += 1
        times = (end - at) // period
        if times > 1 and times * period > covered:
            best, covered = (period, times), times * period
        again = following[again]
    return best


class _Player:
    """Fires transitions, several times at once."""

    def __init__(self, net: Net, run: NetRun) -> None:
        self.net = net
        self.marking = dict(enumerate(run.start))
        bounds = list(zip(run.start, net.least, net.most, strict=True))
        if any(value < low or (high is not None and value > high) for value, low, high in bounds):
            raise InternalError("a run starts at a marking that is not initial")

    def fire(self, rounds: int, group: Group) -> None:
        """Fire a group so many times. What its first round needs of a place, the last needs after all others."""
        need: dict[int, tuple[int, str]] = {}
        change: dict[int, int] = {}
        for number, times in group:
            transition = self.net.transitions[number]
            once = dict(transition.delta)
            for place, least in transition.guard:
                needed = least + max(0, -once.get(place, 0)) * (times - 1) - change.get(place, 0)
                if place not in need or need[place][0] < needed:
                    need[place] = needed, transition.name
            for place, gain in transition.delta:
                change[place] = change.get(place, 0) + gain * times
        for place, (least, name) in need.items():
            if self.marking[place] < least + max(0, -change.get(place, 0)) * (rounds - 1):
                raise InternalError(f"the run fires {name}, which is not enabled")
        for place, gain in change.items():
            self.marking[place] += gain * rounds

    def confirm(self, target: Vector) -> None:
        if any(self.marking[place] < value for place, value in target):
            raise InternalError("the end of a run does not cover its target")

    def tokens(self) -> tuple[Tokens, ...]:
        return _tokens(self.net, self.marking.items())


def _rule(net: Net, number: int, times: int) -> RuleView:
    transition = net.transitions[number]
    change = dict(transition.delta)
    tests = ((place, least) for place, least in transition.guard if least > max(0, -change.get(place, 0)))
    return RuleView(number + 1, transition.line, times, _tokens(net, tests), _tokens(net, transition.delta))


def _tokens(net: Net, values: Iterable[tuple[int, int]]) -> tuple[Tokens, ...]:
    return tuple(Tokens(net.places[place], value) for place, value in values if value)


SAFETY = Verdicts("safe", "unsafe")
VERDICTS = {"safe": "safe", "unsafe": "UNSAFE", "unknown": "UNKNOWN", "error": "error"}
_NOTE_WIDTH = 160
_MOST_STEPS = 200
_MOST_PLACES = 40
_PROOFS = {
    "upward": "markings with a target among them that no run enters, closed under predecessors; their least ones",
    "staged": "markings that are never entered, and a proof for what is left of the net; elements of both",
    "downward": "an inductive invariant without a target; omega-markings",
    "enumerated": "all reachable markings, too many for a certificate",
    "linear": "inequalities that no rule breaks and every target would; targets",
}


class CoverView(View[CoverRecord]):
    """The answers of `cover`."""

    def text(self, layout: Layout) -> AnswerTable[CoverRecord]:
        columns = (
            Column("verdict", len("UNKNOWN")),
            Column("expected?", rank=1),
            Column("engine", 14, rank=4),
            Column("places", 7, rank=5, right=True),
            Column("rules", 7, rank=6, right=True),
            Column("stored", 9, rank=3, right=True),
            Column("time", 9, rank=2, right=True),
        )

        def rows(record: CoverRecord, room: int) -> Iterable[Row]:
            return () if layout.quiet and self.exit_of(record) is Exit.OK else (_row(record, room),)

        last = verdict_totals("safe", "unsafe", "unknown")
        return AnswerTable(layout, columns, rows, last, self.asking.expect, self.asking.explain)

    def objects(self, record: CoverRecord) -> Sequence[JsonObject]:
        return (dataclasses.asdict(record) | {"file": valid_unicode(record.file)},)

    def numbers(self, records: Sequence[CoverRecord]) -> Mapping[str, int]:
        return SAFETY.numbers(records, expect=self.asking.expect)

    def exit_of(self, record: CoverRecord) -> Exit:
        return SAFETY.exit_of(record, self.asking.expect)


def _row(record: CoverRecord, room: int) -> Row:
    read, tried = record.places + record.targets > 0, record.engine is not None
    cells = (
        VERDICTS[record.verdict],
        expected_cell(record.as_expected, claimed=record.expected is not None),
        record.engine or "-",
        f"{record.places:,}" if read else "-",
        f"{record.rules:,}" if read else "-",
        f"{record.stored:,}" if tried else "-",
        f"{record.time_s:.2f} s" if tried else "-",
    )
    note = one_line(record.reason, _NOTE_WIDTH) if record.verdict in ("unknown", "error") else ""
    return Row(cells, note, cover_explanation(record, room))


def cover_explanation(record: CoverRecord, width: int = 100) -> list[str]:
    """Return the lines that explain a verdict, at most `width` characters wide where possible; [] if it needs none."""
    if record.run is not None:
        return _run(record.run, width)
    if record.invariant is not None:
        proof = _PROOFS.get(record.invariant.kind, f"a {record.invariant.kind} invariant; elements")
        return filled(f"No reachable marking covers a target. Proof: {proof}: {record.invariant.size:,}.", width, more="  ")
    if record.verdict == "unknown":
        return filled(f"Undecided: {printable(record.reason)}.", width, more="  ")
    return []


def _run(run: FiringSequence, width: int) -> list[str]:
    cone = f"target {run.cone}: {_conditions(run.target) or 'any marking'}"
    lines = filled(f"Initial marking: {_marking(run.start)}", width, more="  ")
    if run.steps:
        lines += ["", f"From there, {count(run.length, 'rule')} (how often, line, tests and changes):", ""]
        for step in run.steps[:_MOST_STEPS]:
            lines += _step(step, width)
        if len(run.steps) > _MOST_STEPS:
            lines.append(f"  ... and {len(run.steps) - _MOST_STEPS:,} more steps; --format json has them all")
        lines += ["", *filled(f"This leads to: {_marking(run.end)}", width, more="  ")]
    return [*lines, "", *filled(f"It covers {cone}", width, more="  ")]


def _step(step: FiringStep, width: int) -> list[str]:
    lines = []
    inner = "  " if len(step.rules) > 1 else ""
    if inner:
        lines.append(f"  {'once' if step.times == 1 else f'{step.times:,} times'}:")
    for rule in step.rules:
        times = rule.times if inner else rule.times * step.times
        lines += filled(_view_rule(rule, times), width, f"  {inner}", " " * (22 - len(f"  {inner}")))
    if step.after is not None:
        lines += filled(f"=> {_marking(step.after)}", width, " " * 7, "  ")
    return lines


def _view_rule(rule: RuleView, times: int) -> str:
    tests = f"if {_conditions(rule.tests)}" if rule.tests else ""
    effect = ", ".join(f"{printable(t.place)} {'+' if t.tokens > 0 else '-'} {abs(t.tokens)}" for t in rule.effect)
    often = "" if times == 1 else f"{times:,} x"
    return f"{often:>8} line {rule.line:<5} {'; '.join(part for part in (tests, effect) if part) or 'no change'}"


def _conditions(tokens: Iterable[Tokens]) -> str:
    return ", ".join(f"{printable(t.place)} >= {t.tokens}" for t in tokens)


def _marking(tokens: Sequence[Tokens]) -> str:
    shown = ", ".join(f"{printable(t.place)} = {t.tokens}" for t in tokens[:_MOST_PLACES])
    more = f", and {len(tokens) - _MOST_PLACES:,} more places" if len(tokens) > _MOST_PLACES else ""
    return f"{shown}{more}" if tokens else "no tokens"
