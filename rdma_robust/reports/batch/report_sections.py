"""The section of a report that every question has: a row for each input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rdma_robust.frame.formats.report_section import ReportSection, SectionRow, numbered_line
from rdma_robust.frame.formats.section import scanned_files
from rdma_robust.frame.question import Section, View
from rdma_robust.text import count


def question_section(section: Section[Any, Any]) -> ReportSection:
    """Return the answers to a question of another tool: a row for each input, with what is found in it."""
    view, counts = section.view, section.counts
    numbers = {word.replace("_", " "): number for word, number in counts.numbers.items()}
    line = numbered_line(count(counts.done, counts.noun), numbers, None)
    rows = [SectionRow((record.file, *_said(view, record)), {}) for record in section.records]
    made = section_of_rows(section, line, ("file", "verdict", "note"), rows)
    return replace(made, numbers=made.objects)


def section_of_rows(
    section: Section[Any, Any],
    line: str,
    columns: tuple[str, ...],
    rows: Sequence[SectionRow],
    *,
    title: str = "",
    label: str = "",
    legend: str = "",
) -> ReportSection:
    """Return the answers to a question with these rows, in a table without numbers; `title` and `label` are its name unless
    they are given."""
    view, name = section.view, section.question.name
    return ReportSection(
        name=name,
        title=title or name,
        heading=title or name,
        label=label or name,
        line=line,
        columns=columns,
        left=len(columns),
        rows=rows,
        numbers=(),
        objects=[each for record in section.records for each in view.objects(record)],
        cases=[case for cases in view.cases(section).values() for case in cases],
        files=scanned_files(section),
        legend=legend,
    )


def _said(view: View[Any], record: Any) -> tuple[str, str]:
    """Return the verdict on an input, and what is found in it."""
    words = (str(each.get("verdict", "")) for each in view.objects(record))
    found = (f"{each.file}:{each.line or 1}: {each.message}" for each in view.findings(record))
    return ", ".join(words), "; ".join(found)
