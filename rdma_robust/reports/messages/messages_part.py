"""What a page about many programs shows of one message program, as a fragment of HTML without ids and style sheets."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.reports.messages.chart_svg import chart_svg
from rdma_robust.reports.messages.messages_page import PACKAGE, marked_messages
from rdma_robust.reports.messages.messages_record import MessagesRecord
from rdma_robust.reports.messages.run_findings import race_lines, run_findings
from rdma_robust.reports.share.html_templates import templates


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
