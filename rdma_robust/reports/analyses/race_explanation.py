"""The explanation of races: each with its run drawn in lanes, as text, as a drawing, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.analyses.explain.explanation import Timeline
from rdma_robust.analyses.explain.sequential_run import sequential_timeline
from rdma_robust.analyses.races.find_races import Race, RaceOutcome
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.reports.analyses.races_report import SHOWN, RacesRecord, race_paragraph, synchronising_line
from rdma_robust.reports.explanation.explanation_timeline import run_svg
from rdma_robust.reports.share.html_templates import SourceLine, source_listing, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script
from rdma_robust.reports.share.steps_table import gutter, line_text, note_of_places, table
from rdma_robust.reports.share.svg import markup_text, pixel_width, svg_image
from rdma_robust.text import filled, lines_of

_MARKED: Final = "one of the two accesses"
_LEGEND: Final = f"+ {_MARKED}. Under sequential consistency a thread waits for each of its remote operations."


def _timeline(program: Program, race: Race) -> Timeline:
    return sequential_timeline(program, race.run, (race.first, race.second))


def races_text(record: RacesRecord, outcome: RaceOutcome, width: int, *, full: bool) -> list[str]:
    """Return the races as lines, each with its run in lanes; with `full` the names of the events."""
    lines = sentence(_headline(record), width)
    for number, (view, race) in enumerate(zip(record.races, outcome.races, strict=True), 1):
        run = _run_table(outcome.program, race, width, full)
        lines += ["", *race_paragraph(number, view, width), "", *run]
    return [*lines, "", *synchronising_line(record, width)]


def _run_table(program: Program, race: Race, width: int, full: bool) -> list[str]:
    """The run as a table with a column for each lane; lines of C are told with those that they were called from."""
    run = _timeline(program, race)
    places = [action.step.span.places for action, _ in race.run if action.step is not None]
    lefts = (gutter(s.number, line_text(at), False, s.on_cycle) for s, at in zip(run.steps, places, strict=True))
    labels = (f"{s.label}  {s.name}" if full and s.name else s.label for s in run.steps)
    rows = [(left, step.lane, label) for left, step, label in zip(lefts, run.steps, labels, strict=True)]
    note = note_of_places(places)
    lines = table([each.id for each in run.lanes], rows, width, full=full)
    return [*lines, *filled(_LEGEND, width, "  ", "  "), *(filled(note, width, "  ", "  ") if note else [])]


def _headline(record: RacesRecord) -> str:
    hardware = f" ({record.hardware})" if record.hardware else ""
    more = f": {record.reason}" if record.verdict == "unknown" else ""
    if record.races and record.reason:
        more = f"; further races may be there: {record.reason}"
    if record.verdict == "race-free":
        more = ": every two accesses of a location that conflict are ordered in every execution"
    return f"{record.program}: {SHOWN[record.verdict]}{hardware}{more}"


def race_svg(record: RacesRecord, outcome: RaceOutcome) -> str:
    """Return the run of the first race as an SVG image; without a race one that says so."""
    if outcome.races:
        return run_svg(_timeline(outcome.program, outcome.races[0]), outcome.program.name, _MARKED)
    text = _headline(record)
    line = f'<text x="8" y="26">{markup_text(text)}</text>'
    return svg_image(pixel_width(text) + 16, 40, outcome.program.name, [line], "timeline")


_CLASSES: Final = {"race-free": "robust", "race": "not-robust", "unknown": "unknown"}
_PACKAGE: Final = "rdma_robust.reports.analyses"


def races_html(record: RacesRecord, outcome: RaceOutcome, text: str, version: str) -> str:
    """Return the page of a program in `text`; `version` is that of the tool."""
    drawings = [Markup(run_svg(_timeline(outcome.program, race), outcome.program.name, _MARKED)) for race in outcome.races]
    return (
        _templates()
        .get_template("races.html.j2")
        .render(
            told=record,
            title=f"{record.program}: {SHOWN[record.verdict]}",
            verdict=SHOWN[record.verdict],
            kind=_CLASSES[record.verdict],
            headline=_headline(record),
            races=list(zip(record.races, drawings, strict=True)),
            style=PAGE_STYLE + STYLE,
            script=page_script(SCRIPT),
            source=source_listing(_source_lines(outcome.races, text)),
            version=version,
        )
    )


@cache
def _templates() -> Environment:
    return templates(_PACKAGE)


def _source_lines(races: Sequence[Race], source: str) -> Iterator[SourceLine]:
    """The lines of the program; those of racing accesses, and those that lead there, have the numbers of their races."""
    marks: dict[int, list[int]] = {}
    for number, race in enumerate(races, 1):
        spans = [event.step.span for event in (race.first, race.second) if event.step is not None]
        places = dict.fromkeys(place for span in spans for place in span.places if place.isdigit())
        for place in places:
            marks.setdefault(int(place), []).append(number)
    for number, text in enumerate(lines_of(source), 1):
        mine = marks.get(number, ())
        badge = f"race {', '.join(map(str, mine))}" if mine else ""
        yield SourceLine(number, text, ("cycle",) if mine else (), badge)
