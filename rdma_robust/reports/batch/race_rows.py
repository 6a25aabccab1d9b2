"""The races of programs as rows: a section of a report, Markdown, and lines for a spreadsheet."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any, Final

from markupsafe import Markup

from rdma_robust.frame.formats.report_section import ReportSection, SectionRow, numbered_line
from rdma_robust.frame.formats.row_text import expected_cell
from rdma_robust.frame.formats.section import scanned_files
from rdma_robust.frame.question import Section
from rdma_robust.reports.analyses.races_report import SHOWN, RacesRecord, RaceView, races_said
from rdma_robust.reports.batch.batch_exchange import csv_cell
from rdma_robust.reports.batch.batch_markdown import section_markdown
from rdma_robust.text import count

COLUMNS: Final = ("file", "races?", "expected?", "states", "note")
OF_A_RACE: Final = ("file", "verdict", "word", "line", "statement", "other line", "other statement", "missing")
LEGEND: Final = (
    "<b>Data races</b>: two accesses of a word, one of which writes, that no poll, message, barrier or synchronising word "
    "orders in some sequentially consistent execution."
)
_COLOURS: Final = {"race-free": "robust", "race": "not-robust"}


def races_section(section: Section[Any, RacesRecord]) -> ReportSection:
    """Return the section of a report: a row for each program, and behind it its races with their runs."""
    counts = section.counts
    numbers = {word: counts[word.replace("-", "_")] for word in ("race-free", "race", "unknown", "error")}
    compared = (counts["as_expected"], counts["mismatched"]) if section.asking.expect else None
    return ReportSection(
        name="races",
        title="Data races",
        heading="Data races",
        label="Programs and their races",
        line=f"races: {numbered_line(count(counts.done, counts.noun), numbers, compared)}",
        columns=COLUMNS,
        left=len(COLUMNS),
        rows=[_row(record) for record in section.records],
        numbers=(),
        objects=[each for record in section.records for each in section.view.objects(record)],
        cases=[case for cases in section.view.cases(section).values() for case in cases],
        files=scanned_files(section),
        legend=LEGEND,
    )


def _row(record: RacesRecord) -> SectionRow:
    expected = expected_cell(record.as_expected, claimed=record.expected is not None)
    note = record.reason or ("" if not record.races else races_said(record))
    cells = (record.file, SHOWN[record.verdict], expected, f"{record.states:,}", note)
    page = Markup("<ol>{}</ol>").format(Markup("").join(map(_item, record.races))) if record.races else ""
    return SectionRow(cells, {1: _COLOURS.get(record.verdict, "unknown")}, page, f": {races_said(record)}")


def _item(race: RaceView) -> Markup:
    steps = Markup("").join(
        Markup("<li>{}{}</li>").format(f"line {each.line}, {each.actor}: {each.does}", _mark(each.access))
        for each in race.run
    )
    return Markup("<li>{}; {}<ol>{}</ol></li>").format(race.said, race.missing, steps)


def _mark(access: str) -> Markup | str:
    return Markup(" <b>{} access</b>").format(access) if access else ""


def races_markdown(section: Section[Any, RacesRecord]) -> str:
    """Return the programs and their races as Markdown."""
    return "\n".join(section_markdown(races_section(section)))


def races_csv(section: Section[Any, RacesRecord]) -> str:
    """Return a line for each race, and one for each program without, for a spreadsheet."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(OF_A_RACE)
    for record in section.records:
        for race in record.races:
            first, second = race.first, race.second
            cells = (race.word, str(first.line), first.statement, str(second.line), second.statement, race.missing)
            writer.writerow([csv_cell(each) for each in (record.file, record.verdict, *cells)])
        if not record.races:
            writer.writerow([csv_cell(each) for each in (record.file, record.verdict, *[""] * 5, record.reason)])
    return out.getvalue()
