"""The explanation of a message program for the terminal."""

from __future__ import annotations

from rdma_robust.frame.formats.columns import Column, Columns
from rdma_robust.reports.messages.chart_text import LEGEND
from rdma_robust.reports.messages.messages_explained import WIDTH, finding_lines
from rdma_robust.reports.messages.messages_explanation import HEADS, MessagesExplanation
from rdma_robust.reports.messages.race_notes import contrast_lines
from rdma_robust.text import count, filled, printable


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
