"""The section of a report that every question has: a row for each input."""

from __future__ import annotations

from typing import Any

from rdma_robust.frame.formats.report_section import ReportSection, SectionRow, numbered_line
from rdma_robust.frame.formats.section import scanned_files
from rdma_robust.frame.question import Section, View
from rdma_robust.text import count


def question_section(section: Section[Any, Any]) -> ReportSection:
    """Return the answers to a question of another tool: a row for each input, with what is found in it."""
    view, name = section.view, section.question.name
    objects = [each for record in section.records for each in view.objects(record)]
    counts = section.counts
    numbers = {word.replace("_", " "): number for word, number in counts.numbers.items()}
    return ReportSection(
        name=name,
        title=name,
        heading=name,
        label=name,
        line=numbered_line(count(counts.done, counts.noun), numbers, None),
        columns=("file", "verdict", "note"),
        left=3,
        rows=[SectionRow((record.file, *_said(view, record)), {}) for record in section.records],
        numbers=objects,
        objects=objects,
        cases=[case for cases in view.cases(section).values() for case in cases],
        files=scanned_files(section),
    )


def _said(view: View[Any], record: Any) -> tuple[str, str]:
    """Return the verdict on an input, and what is found in it."""
    words = (str(each.get("verdict", "")) for each in view.objects(record))
    found = (f"{each.file}:{each.line or 1}: {each.message}" for each in view.findings(record))
    return ", ".join(words), "; ".join(found)
