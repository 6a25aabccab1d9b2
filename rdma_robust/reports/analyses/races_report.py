"""The answers of `races`: a row for each program, beneath it the races with their runs, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from rdma_robust.analyses.races.find_races import Race, RaceOutcome, RaceVerdict, what_would_order
from rdma_robust.frame.answer import DiagnosticView, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, Flow, Step, file_at, problem_findings
from rdma_robust.frame.formats.answer_table import AnswerTable, Row, expected_cell, verdict_totals
from rdma_robust.frame.formats.columns import Column, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.junit import Case, Kind
from rdma_robust.frame.formats.report_section import ReportSection, SectionRow, numbered_line
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import PROMISED
from rdma_robust.reports.batch.batch_exchange import csv_table
from rdma_robust.reports.batch.batch_markdown import section_markdown
from rdma_robust.reports.batch.report_sections import section_of_rows
from rdma_robust.reports.check.result import SILENT, as_expected
from rdma_robust.reports.share.recorded_remarks import recorded_remarks
from rdma_robust.reports.share.totals import Verdicts
from rdma_robust.semantics.trace import Event
from rdma_robust.semantics.wording import Words, deed, lane
from rdma_robust.text import count, one_line, printable

RACES: Final = Verdicts("race-free", "race")
SHOWN: Final = {"race-free": "race-free", "race": "RACE", "unknown": "UNKNOWN", "error": "error"}
MOST_MOVES: Final = 24
"""Moves of a run that are shown, the last ones; the JSON has all."""


@dataclass(frozen=True, slots=True)
class RacingAccess:
    """An access of a race: who makes it, where, of which statement, and what it does, in words."""

    thread: str
    line: int
    column: int
    statement: str
    writes: bool
    does: str
    places: tuple[str, ...]

    @property
    def where(self) -> str:
        """The place, with the calls that lead there."""
        return f"line {' from '.join(self.places)}"


@dataclass(frozen=True, slots=True)
class RaceMove:
    """A move of a run: who makes it, where, what it does, and whether it is the `first` or `second` access of the race."""

    actor: str
    line: int | None
    column: int | None
    does: str
    access: Literal["", "first", "second"]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RaceView:
    """A race: its word, its two accesses in the order of the run, what would order them, and the run."""

    word: str
    first: RacingAccess
    second: RacingAccess
    missing: str
    run: tuple[RaceMove, ...]

    @property
    def said(self) -> str:
        """The race in a sentence."""
        a, b = self.first, self.second
        return f"{self.word}: `{a.statement}` ({a.where}) and `{b.statement}` ({b.where}) race"


@dataclass(frozen=True, slots=True)
class RacesRecord:
    """The answer for one program. With a `reason` not all races may have been found, or none was."""

    file: str
    verdict: str
    reason: str = ""
    error_kind: str | None = None
    program: str | None = None
    hardware: str = ""
    synchronising: tuple[str, ...] = ()
    races: tuple[RaceView, ...] = ()
    engine: str | None = None
    states: int = 0
    transitions: int = 0
    expected: Literal["race", "race-free"] | None = None
    expected_line: int | None = None
    as_expected: bool | None = None
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0


def races_record(outcome: RaceOutcome, file: str) -> RacesRecord:
    """Return the record of a program in a file."""
    program, model = outcome.program, outcome.model
    said = next((each for each in program.expectations if each.kind == "race"), None)
    decided = outcome.verdict is not RaceVerdict.UNKNOWN
    met = None if said is None or not decided else (outcome.verdict is RaceVerdict.RACE_FREE) is said.negated
    hardware = model.words + (": standards, no NIC" if model.order in PROMISED else "")
    return RacesRecord(
        file,
        outcome.verdict.value,
        outcome.reason,
        program=program.name,
        hardware=hardware,
        synchronising=tuple(str(cell) for cell in program.cells if cell in outcome.synchronising and not cell.moment),
        races=tuple(_view(outcome, race) for race in outcome.races),
        engine=outcome.engine,
        states=outcome.states,
        transitions=outcome.transitions,
        expected=None if said is None else "race-free" if said.negated else "race",
        expected_line=None if said is None else said.span.line,
        as_expected=as_expected(met, program.warnings),
        warnings=diagnostics(program.warnings),
        time_s=round(outcome.time_s, 6),
    )


def _view(outcome: RaceOutcome, race: Race) -> RaceView:
    program = outcome.program
    first, second = _access(program, race.first), _access(program, race.second)
    return RaceView(str(race.first.cell), first, second, what_would_order(outcome, race), tuple(_run(program, race)))


def _access(program: Program, event: Event) -> RacingAccess:
    assert event.step is not None
    span, name = event.step.span, program.threads[event.thread].name
    does = printable(Words(program).label(event))
    return RacingAccess(
        name, span.line, span.column, one_line(event.step.text), event.written is not None, does, span.places
    )


def _run(program: Program, race: Race) -> Iterator[RaceMove]:
    for action, events in race.run:
        if action.step is None:
            continue
        found: Literal["", "first", "second"] = ""
        found = "first" if race.first in events else "second" if race.second in events else ""
        span = action.step.span
        yield RaceMove(
            lane(program, action), span.line, span.column, printable(deed(program, action, sc=True)), found, span.places
        )


def racing_lines(record: RacesRecord, width: int | None) -> list[str]:
    """Return the lines beneath a row: the words that synchronise, and each race with its run and what would order it."""
    lines: list[str] = []
    for number, race in enumerate(record.races, 1):
        lines += [""] if lines else []
        lines += race_paragraph(number, race, width)
        left = len(race.run) - MOST_MOVES
        lines += [f"   the run, under sequential consistency{f', without its first {left} moves' if left > 0 else ''}:"]
        for step in race.run[-MOST_MOVES:]:
            mark = {"first": "  <- first access", "second": "  <- second access"}.get(step.access, "")
            lines += sentence(f"line {' from '.join(step.places)}, {step.actor}: {step.does}{mark}", width, "     ")
    if record.verdict == "race-free":
        lines += sentence("Every two accesses of a location that conflict are ordered in every execution.", width)
    return [*lines, "", *synchronising_line(record, width)] if record.program is not None else lines


def race_paragraph(number: int, race: RaceView, width: int | None) -> list[str]:
    """Return a race in words: its two accesses, and what would order them."""
    lines = sentence(f"{number}. {race.said}", width)
    for name, each in (("first", race.first), ("then", race.second)):
        lines += sentence(f"{name} {each.thread}, {each.where}: {each.does}", width, "   ")
    return lines + sentence(race.missing, width, "   ")


def synchronising_line(record: RacesRecord, width: int | None) -> list[str]:
    """Return the locations that synchronise, as lines."""
    return sentence(f"locations that synchronise: {', '.join(record.synchronising) or 'none'}", width)


class RacesView(View[RacesRecord]):
    """The answers of `races`."""

    def text(self, layout: Layout) -> AnswerTable[RacesRecord]:
        columns = (
            Column("verdict", len("race-free")),
            Column("expected?", rank=1),
            Column("races", rank=3, right=True),
            Column("engine", len("karp-miller"), rank=5),
            Column("states", 9, rank=4, right=True),
            Column("time", 9, rank=2, right=True),
        )

        def rows(record: RacesRecord, room: int) -> Sequence[Row]:
            if layout.quiet and self.exit_of(record) is Exit.OK:
                return ()
            return (Row(_cells(record), _note(record), racing_lines(record, room)),)

        last = verdict_totals("race_free", "race", "unknown")
        return AnswerTable(layout, columns, rows, last, self.asking.expect, self.asking.explain)

    def objects(self, record: RacesRecord) -> Sequence[JsonObject]:
        told = asdict(record) | {"file": valid_unicode(record.file), "exit_code": int(self.exit_of(record))}
        return (told,)

    def numbers(self, records: Sequence[RacesRecord]) -> Mapping[str, int]:
        return RACES.numbers(records, expect=self.asking.expect)

    def exit_of(self, record: RacesRecord) -> Exit:
        return RACES.exit_of(record, self.asking.expect)

    def written(self, section: Section[Any, RacesRecord], form: str) -> str | None:
        write = {"md": races_markdown, "csv": races_csv}.get(form)
        return None if write is None else write(section)

    def findings(self, record: RacesRecord) -> Iterator[Finding]:
        undecided = record.reason if record.verdict == "unknown" else ""
        problems = (*record.errors, *record.warnings)
        yield from problem_findings(record.file, problems, record.error_kind, record.reason, undecided)
        if self.asking.expect and RACES.mismatch(record):
            yield Finding(record.file, record.expected_line or 1, 1, "error", "RR029", _why(record), "verdict")
        if not (self.asking.expect and record.as_expected):
            yield from (race_finding(record.file, race) for race in record.races)

    def cases(self, section: Section[Any, RacesRecord]) -> Mapping[str, Sequence[Case]]:
        return {"races": [self._case(record) for record in section.records]}

    def _case(self, record: RacesRecord) -> Case:
        code = self.exit_of(record)
        kind: Kind = "" if code is Exit.OK else "failure" if code is Exit.NOT_ROBUST else "error"
        said = "; ".join(race.said for race in record.races) or record.reason or _why(record)
        races = ((file_at(race.first.places) or record.file, race) for race in record.races)
        text = "\n".join(f"{file}:{race.first.line}: {race.said}: {race.missing}" for file, race in races)
        return Case(record.file, "rdma-robust.races", record.time_s, kind, record.verdict, said, text)


def race_finding(file: str, race: RaceView) -> Finding:
    """Return a race as a finding at its first access, with the second as a further place and the run."""
    first, second = race.first, race.second
    said, there = f"the other access: {second.does}", file_at(second.places)
    other = Step(second.line, second.column, said, second.statement, file=there)
    run = tuple(Step(e.line, e.column, f"{e.actor}: {e.does}", file=file_at(e.places)) for e in race.run)
    told = f"a data race on {race.word} with `{second.statement}` ({second.where}): {race.missing}"
    flow = Flow("run", "The run up to both accesses", run)
    return Finding(
        file_at(first.places) or file,
        first.line,
        first.column,
        "error",
        "RR028",
        told,
        statement=first.statement,
        related=(other,),
        flows=(flow,),
    )


def _why(record: RacesRecord) -> str:
    """Return what `--expect` says of a program."""
    if record.expected is None:
        return "no `expect` line says whether the program has a race"
    if any(each.code == SILENT for each in record.warnings):
        return "a process does nothing, so that the answer says little"
    return f"expected: {record.expected.replace('-', ' ')}; the answer is {record.verdict.replace('-', ' ')}"


def _cells(record: RacesRecord) -> tuple[str, ...]:
    expected = expected_cell(record.as_expected, claimed=record.expected is not None)
    if record.engine is None:
        return (SHOWN[record.verdict], expected, *"----")
    many = f"{len(record.races)}{'+' if record.reason and record.races else ''}"
    return SHOWN[record.verdict], expected, many, record.engine, f"{record.states:,}", f"{record.time_s:.2f} s"


def _note(record: RacesRecord) -> str:
    more = f"further races may be there: {record.reason}" if record.races and record.reason else record.reason
    said = [more, record.hardware if record.hardware != "RDMA" else ""]
    if record.verdict in ("race-free", "race"):
        said += recorded_remarks(record.warnings, bad=record.verdict == "race")
    return one_line("; ".join(filter(None, said)), 160)


def races_said(record: RacesRecord) -> str:
    """Return how many races a program has, and their lines."""
    lines = ", ".join(f"lines {race.first.line} and {race.second.line}" for race in record.races)
    return f"{count(len(record.races), 'race')}: {lines}" if record.races else record.verdict


COLUMNS: Final = ("file", "races?", "expected?", "states", "note")
OF_A_RACE: Final = ("file", "verdict", "word", "line", "statement", "other line", "other statement", "missing")
_COLOURS: Final = {"race-free": "robust", "race": "not-robust"}


def races_section(section: Section[Any, RacesRecord]) -> ReportSection:
    """Return the section of a report: a row for each program."""
    counts = section.counts
    numbers = {word: counts[word.replace("-", "_")] for word in ("race-free", "race", "unknown", "error")}
    compared = (counts["as_expected"], counts["mismatched"]) if section.asking.expect else None
    line = f"races: {numbered_line(count(counts.done, counts.noun), numbers, compared)}"
    rows = [_row(record) for record in section.records]
    return section_of_rows(section, line, COLUMNS, rows, title="Data races", label="Programs and their races")


def _row(record: RacesRecord) -> SectionRow:
    expected = expected_cell(record.as_expected, claimed=record.expected is not None)
    note = record.reason or ("" if not record.races else races_said(record))
    cells = (record.file, SHOWN[record.verdict], expected, f"{record.states:,}", note)
    return SectionRow(cells, {1: _COLOURS.get(record.verdict, "unknown")})


def races_markdown(section: Section[Any, RacesRecord]) -> str:
    """Return the programs and their races as Markdown."""
    return "\n".join(section_markdown(races_section(section)))


def races_csv(section: Section[Any, RacesRecord]) -> str:
    """Return a line for each race, and one for each program without, for a spreadsheet."""
    return csv_table(OF_A_RACE, (row for record in section.records for row in _csv_rows(record)))


def _csv_rows(record: RacesRecord) -> Iterator[tuple[str, ...]]:
    for race in record.races:
        first, second = race.first, race.second
        cells = (race.word, str(first.line), first.statement, str(second.line), second.statement, race.missing)
        yield record.file, record.verdict, *cells
    if not record.races:
        yield record.file, record.verdict, *[""] * 5, record.reason
