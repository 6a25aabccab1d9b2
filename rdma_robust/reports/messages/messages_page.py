"""The explanation of a message program as one HTML file that needs nothing else, and as a fragment of a page about many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.reports.messages.messages_explanation import HEADS, MessagesExplanation
from rdma_robust.reports.messages.messages_record import MessagesRecord
from rdma_robust.reports.messages.run_findings import RunFinding, race_lines, run_findings
from rdma_robust.reports.share.chart import KINDS, marked_lines
from rdma_robust.reports.share.chart_svg import chart_svg
from rdma_robust.reports.share.html_templates import Language, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script

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
