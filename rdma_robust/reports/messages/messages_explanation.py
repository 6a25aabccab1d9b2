"""The explanation of one message program, as text and JSON: what holds under each buffer, and runs of what fails.

And what of it `messages check` puts beneath the row of a program: its runs as charts, races, and what is not known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit, within
from rdma_robust.frame.formats.columns import Column, Columns
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.message_answers import BufferAnswer, Mismatch
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.reports.messages.message_claims import matchings_of, race_of
from rdma_robust.reports.messages.messages_record import EXITS, MessagesRecord
from rdma_robust.reports.messages.narration import narrated, operation_names
from rdma_robust.reports.messages.race_notes import RaceNote, contrast_lines
from rdma_robust.reports.messages.run_findings import RunFinding, race_lines, run_findings
from rdma_robust.reports.messages.wait_reasons import ChartContents, chart_of
from rdma_robust.reports.share.chart import KINDS, LEGEND, Chart, chart_text, marked_lines
from rdma_robust.reports.share.chart_svg import chart_svg
from rdma_robust.reports.share.html_templates import Language, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script
from rdma_robust.text import count, filled, printable

ASSERTS = {"no": "hold", "yes": "VIOLATED", "unknown": "UNKNOWN"}
DEADLOCK = {"no": "no", "yes": "YES", "unknown": "UNKNOWN"}


@dataclass(frozen=True, slots=True)
class BufferRow:
    """The answers under one buffer semantics in words."""

    buffer: Buffer
    asserts: str
    deadlock: str
    races: str
    matchings: str
    leak: str
    engine: str

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.buffer, self.asserts, self.deadlock, self.races, self.matchings, self.leak, self.engine)


HEADS = ("buffers", "asserts", "deadlock", "races", "matchings", "leak", "engine")


@dataclass(frozen=True, slots=True)
class MessagesExplanation:
    """All that is said of a program. `findings` has at least one run, the one that says most first; `notes` are about
    what races change, library procedures in different orders, and what is not known; `changes` show what races change."""

    program: MessageProgram
    rows: tuple[BufferRow, ...]
    findings: tuple[RunFinding, ...]
    races: tuple[str, ...]
    notes: tuple[str, ...]
    exit_code: Exit
    changes: tuple[RaceNote, ...] = ()

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        words = {"VIOLATED": [row.asserts for row in self.rows], "DEADLOCK": [row.deadlock for row in self.rows]}
        bad = [word for word, answers in words.items() if {"VIOLATED", "YES"} & {*answers}]
        unknown = any("UNKNOWN" in answers for answers in words.values())
        return ", ".join(bad) or ("UNKNOWN" if unknown else "asserts hold, no deadlock")


def messages_explanation(
    program: MessageProgram, answers: Sequence[BufferAnswer], races: Sequence[RaceNote] = ()
) -> MessagesExplanation:
    """Return the explanation of a program; where nothing goes wrong it shows some run. `races` say what races change."""
    found = run_findings(program, answers) or (_some_run(program, answers[0]),)
    return MessagesExplanation(
        program,
        tuple(_row(answer) for answer in answers),
        found,
        tuple(race_lines(program, answers)),
        (*(each.text for each in races), *order_lines(program, answers), *open_lines(answers)),
        within(EXITS[each] for answer in answers for each in (answer.violated, answer.deadlocked)),
        tuple(each for each in races if each.runs),
    )


def _row(answer: BufferAnswer) -> BufferRow:
    races = str(len(answer.races)) if answer.pairs_exact else f"{len(answer.races)}+" if answer.races else "?"
    return BufferRow(
        answer.buffer,
        ASSERTS[answer.violated],
        DEADLOCK[answer.deadlocked],
        races if race_of(answer) != "unknown" else "?",
        matchings_of(answer),
        {"no": "no", "yes": "yes", "unknown": "?"}[answer.leaking],
        answer.engine,
    )


def _some_run(program: MessageProgram, answer: BufferAnswer) -> RunFinding:
    """Return any run, made by the machine, of a program in which nothing bad was found. Raises InternalError if it cannot be
    replayed."""
    schedule = random_run(program, answer.buffer, 0)
    replay_schedule(program, answer.buffer, schedule)
    names = operation_names(program)
    show = ChartContents("a run", feasible=answer.racing_sends())
    chart = chart_of(program, names, narrated(program, answer.buffer, schedule), show)
    return RunFinding("run", (answer.buffer,), answer.buffer, f"A run under {answer.buffer}:", (), "", chart, schedule)


def messages_explanation_text(told: MessagesExplanation, width: int | None, *, full: bool) -> list[str]:
    """Return the explanation as lines: the answers by buffers, runs with charts, races, what is not known."""
    room = width or WIDTH
    program = told.program
    processes = count(len(program.processes), "process").replace("processs", "processes")
    lines = filled(f"{printable(program.file)}: {printable(program.name)}, {processes}: {told.verdict}", room, "", "  ")
    widths = [max(len(row.cells[n]) for row in told.rows) for n in range(len(HEADS))]
    columns = Columns(
        tuple(Column(head, widest, rank=max(0, n - 3)) for n, (head, widest) in enumerate(zip(HEADS, widths, strict=True))),
        room,
        "  ",
    )
    lines += ["", *columns.head(), *(line for row in told.rows for line in columns.row(row.cells))]
    for each in told.findings:
        lines += ["", *finding_lines(each, room, full=full)]
    lines += ["", *filled(LEGEND, room)]
    if told.races:
        lines += ["", *(line for each in told.races for line in filled(f"race: {each}", room, "", "  "))]
    drawn = {each.text: contrast_lines(each, room) for each in told.changes} if full else {}
    for note in told.notes:
        lines += ["", *filled(note, room, "", "  "), *drawn.get(note, [])]
    return lines


FORMAT: Final = "rdma-robust/messages-explain"
VERSION: Final = 1


def messages_explanation_object(told: MessagesExplanation, tool: Mapping[str, object]) -> JsonObject:
    """Return the whole explanation; `tool` says what made it."""
    program = told.program
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "file": valid_unicode(program.file),
        "program": program.name,
        "processes": [process.name for process in program.processes],
        "verdict": told.verdict,
        "buffers": [dataclasses.asdict(row) for row in told.rows],
        "runs": [_run(each) for each in told.findings],
        "races": list(told.races),
        "notes": list(told.notes),
        "exit_code": int(told.exit_code),
    }


def _run(found: RunFinding) -> JsonObject:
    return {
        "shows": found.kind,
        "buffers": list(found.buffers),
        "buffer": found.buffer,
        "headline": valid_unicode(found.headline),
        "words": list(found.words),
        "advice": found.advice,
        "line": found.line,
        "chart": _chart(found.chart),
    }


def _chart(chart: Chart) -> JsonObject:
    names = chart.lanes
    return {
        "rows": [
            {"process": names[row.lane], "line": row.line, "mark": row.mark, "text": valid_unicode(row.text), "bad": row.bad}
            for row in chart.rows
        ],
        "messages": [
            {
                "from": names[each.source],
                "to": names[each.target],
                "sent": each.begin,
                "taken": each.end,
                "value": each.label,
                "possible": each.possible,
            }
            for each in chart.arrows
        ],
        "waits": [
            {"process": names[bar.lane], "begin": bar.begin, "end": bar.end, "for_ever": bar.for_ever} for bar in chart.bars
        ],
        "cycle": [{"process": names[link.process], "waits_for": names[link.other]} for link in chart.cycle],
    }


WIDTH: Final = 80
"""Of charts and sentences where there is no terminal."""
MOST_RACES: Final = 8


def messages_lines(
    program: MessageProgram, answers: Sequence[BufferAnswer], width: int | None = None, *, full: bool = False
) -> list[str]:
    """Return the lines: the first violation and the deadlock with their charts, with `full` all of everything."""
    room = (width or WIDTH) - 2
    found = run_findings(program, answers)
    lines: list[str] = []
    drawn: set[str] = set()
    for each in found:
        draw = full or (each.kind != "leak" and each.kind not in drawn)
        lines += ["", *(finding_lines(each, room, full=full) if draw else filled(each.headline, room, "", "  "))]
        drawn.add(each.kind)
    if any(each.chart.rows for each in found):
        lines += ["", *filled(LEGEND, room)]
    races = race_lines(program, answers)
    if races:
        lines += ["", f"{len(races)} racing:" if len(races) > 1 else "racing:"]
        lines += [line for each in races[: None if full else MOST_RACES] for line in filled(each, room, "  ", "  ")]
        lines += [f"  and {len(races) - MOST_RACES} more; -v lists them"] if len(races) > MOST_RACES and not full else []
    for note in (*order_lines(program, answers), *open_lines(answers)):
        lines += ["", *filled(note, room, "", "  ")]
    return lines[1:]


def finding_lines(found: RunFinding, width: int, *, full: bool) -> list[str]:
    """Return a finding with its chart."""
    lines = [*filled(found.headline, width, "", "  "), "", *chart_text(found.chart, width, full=full)]
    for each in found.words:
        lines += ["", *filled(each, width)]
    if found.advice:
        lines += ["", *filled(found.advice, width)]
    return lines


def order_lines(program: MessageProgram, answers: Sequence[BufferAnswer]) -> list[str]:
    """Return which processes call library procedures in different orders."""
    found = dict.fromkeys(each for answer in answers for each in answer.mismatches)
    return [f"different orders: {order_line(program, each)}" for each in found]


def order_line(program: MessageProgram, mismatch: Mismatch) -> str:
    """Return which library procedures two processes call at one position."""
    named = zip(mismatch.calls, mismatch.processes, strict=True)
    one, other = (f"{call or 'missing'} in {program.processes[number].name}" for call, number in named)
    calls = f"is {one} and {other}"
    return f"call {mismatch.position + 1} of library procedures {calls}; MPI does not allow that"


def open_lines(answers: Sequence[BufferAnswer]) -> list[str]:
    """Return what is not known, and why."""
    reasons: dict[str, list[str]] = {}
    for answer in answers:
        if answer.reason:
            reasons.setdefault(answer.reason, []).append(answer.buffer)
    return [f"not known under {' and '.join(buffers)}: {reason}" for reason, buffers in reasons.items()]


PACKAGE: Final = "rdma_robust.reports.messages"
CONTRAST: Final = """
.contrast{display:flex;flex-wrap:wrap;gap:20px}
.contrast figure{flex:1 1 auto;max-width:100%;margin:0}
.contrast figcaption{font-weight:600;margin-bottom:6px}
.contrast figcaption,.contrast figure p{width:0;min-width:100%}
"""
"""Two runs side by side, or one below the other where there is no room."""


def messages_page(told: MessagesExplanation, version: str) -> str:
    """Return the whole page; `version` is that of the tool."""
    program = told.program
    return (
        templates(PACKAGE)
        .get_template("messages.html.j2")
        .render(
            told=told,
            program=program,
            title=f"{program.name}: {told.verdict}",
            kind=KINDS.get(told.exit_code, "unknown"),
            heads=HEADS,
            bad=("VIOLATED", "YES"),
            style=PAGE_STYLE + STYLE + CONTRAST,
            script=page_script(SCRIPT),
            findings=[(each, Markup(chart_svg(each.chart))) for each in told.findings],
            notes=[note for note in told.notes if note not in {each.text for each in told.changes}],
            changes=[(each, [(run, Markup(chart_svg(run.chart))) for run in each.runs]) for each in told.changes],
            source=marked_messages(program.source, told.findings, "json" if program.file.endswith(".json") else "mp"),
            processes=", ".join(process.name for process in program.processes),
            version=version,
        )
    )


def marked_messages(source: str, findings: Sequence[RunFinding], language: Language = "mp", style: str = "") -> Markup:
    """Return the listing of a program with marks where the first run goes wrong, and where it sends and takes messages."""
    return marked_lines(source, findings[0].chart.rows if findings else (), language, style)


def messages_part(program: MessageProgram, answers: Sequence[BufferAnswer], record: MessagesRecord) -> str:
    """Return the fragment: what goes wrong with its charts, races, the source with its marks."""
    found = run_findings(program, answers)
    return (
        templates(PACKAGE)
        .get_template("part.html.j2")
        .render(
            record=record,
            findings=[(each, Markup(chart_svg(each.chart))) for each in found],
            races=race_lines(program, answers),
            source=marked_messages(program.source, found),
        )
    )
