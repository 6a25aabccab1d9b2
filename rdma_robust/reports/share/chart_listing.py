"""The listing of a program with marks at the lines of a run that is drawn as a chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from rdma_robust.frame.exits import Exit
from rdma_robust.reports.share.chart import ChartRow, Mark
from rdma_robust.reports.share.coloured import Language
from rdma_robust.reports.share.html_templates import SourceLine, source_listing
from rdma_robust.text import lines_of

KINDS: Final = {Exit.OK: "robust", Exit.NOT_ROBUST: "not-robust"}
"""The kinds of pages by the exit codes of what they tell; all else is unknown."""
BADGES: Final[dict[Mark, str]] = {
    "false": "false",
    "fault": "goes wrong",
    "stuck": "waits for ever",
    "leak": "left over",
    "take": "takes a message",
    "send": "sends",
}
"""What is said at the end of the lines of a run, the most important first."""


def marked_lines(source: str, rows: Sequence[ChartRow], language: Language, style: str = "") -> Markup:
    """Return the listing of a program with marks at the lines of a run."""
    lines = lines_of(source)
    marked = (_line(number, text, [row for row in rows if row.line == number]) for number, text in enumerate(lines, 1))
    return source_listing(marked, style, language)


def _line(number: int, text: str, rows: Sequence[ChartRow]) -> SourceLine:
    marks = {row.mark for row in rows}
    badges = [badge for mark, badge in BADGES.items() if mark in marks]
    kinds = ("cycle",) if any(row.bad for row in rows) else ("fault",) if "leak" in marks else ()
    return SourceLine(number, text, kinds, ", ".join(badges[:2]), "; ".join(dict.fromkeys(row.text for row in rows)))
