"""What stands beneath the row of a message program: its runs as charts, races, and what is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Mismatch
from rdma_robust.reports.messages.run_findings import RunFinding, race_lines, run_findings
from rdma_robust.reports.share.chart_text import LEGEND, chart_text
from rdma_robust.text import filled

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
