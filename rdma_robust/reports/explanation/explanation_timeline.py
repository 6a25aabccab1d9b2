"""The run of a witness as a drawing: lanes side by side, time from the top down, one step a row.

A vertical line in a NIC's lane is one operation, from the row in which the CPU posts it to that of its last effect:
thin while it is in the pipe, thick while its write is in the write buffer, dotted from then to the poll that takes its
completion. Arrows from and to the CPU's lane are the posting and the poll.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.analyses.explain.explanation import Explanation, Lane, Operation, Timeline, TimelineStep
from rdma_robust.reports.explanation.explanation_dot import lane_title
from rdma_robust.reports.share.svg import arrow_head, fitted, markup_text, number, pixel_width, svg_image

GUTTER = 34
HEAD = 58
ROW = 34
CHIP = 24
PAD = 10
GAP = 14
SLOT = 12
LEAST_LANE = 128
LONGEST_LABEL = 34


@dataclass(frozen=True, slots=True)
class _Column:
    """A lane's place: its left edge, the left edge of its chips, and its width."""

    lane: Lane
    x: float
    chips: float
    width: float


def timeline_svg(explanation: Explanation) -> str:
    """Return the timeline as an SVG image, "" if there is no witness."""
    run = explanation.timeline
    return "" if run is None else run_svg(run, explanation.program)


def run_svg(run: Timeline, program: str, marked: str = "on the cycle") -> str:
    """Return a run of the program of this name as an SVG image; `marked` is what the marked steps are."""
    slots = _slots(run)
    columns = _columns(run, slots)
    last = columns[-1]
    width, height = last.x + last.width + PAD, HEAD + ROW * len(run.steps) + PAD
    by_lane = {c.lane.id: c for c in columns}
    body = [*_headings(columns, height), *(_row(step, width) for step in run.steps)]
    body += [_operation(o, run, by_lane, slots[o.number]) for o in run.operations]
    body += [_chip(step, by_lane[step.lane], marked) for step in run.steps]
    return svg_image(width, height, f"run of {program}, step by step", body, "timeline")


def _ends(operation: Operation, run: Timeline) -> tuple[int, int]:
    last = max(n for n in (operation.written or len(run.steps) + 1, operation.polled or 0))
    return operation.posted, last


def _slots(run: Timeline) -> dict[int, int]:
    """Give each operation the first line of its lane that is free for as long as the operation takes."""
    busy: dict[tuple[str, int], int] = {}
    found: dict[int, int] = {}
    for operation in sorted(run.operations, key=lambda o: o.posted):
        first, last = _ends(operation, run)
        slot = 0
        while busy.get((operation.lane, slot), 0) >= first:
            slot += 1
        busy[operation.lane, slot] = last
        found[operation.number] = slot
    return found


def _columns(run: Timeline, slots: dict[int, int]) -> list[_Column]:
    columns: list[_Column] = []
    x: float = GUTTER
    before: str | None = None
    for lane in run.lanes:
        x += GAP if before not in (None, lane.thread) else 0
        before = lane.thread
        used = max((slots[o.number] + 1 for o in run.operations if o.lane == lane.id), default=0)
        chips = PAD + SLOT * used + (4 if used else 0)
        widest = max((_chip_width(s) for s in run.steps if s.lane == lane.id), default=0)
        wide = max(LEAST_LANE, chips + widest + PAD, pixel_width(lane_title(lane)) + 2 * PAD)
        if lane.kind == "cpu":
            wide = max(wide, pixel_width(f"{lane.thread} on {lane.node}") + 2 * PAD)
        columns.append(_Column(lane, x, chips, wide))
        x += wide
    return columns


def _headings(columns: Sequence[_Column], height: float) -> list[str]:
    found = []
    for thread in dict.fromkeys(c.lane.thread for c in columns):
        mine = [c for c in columns if c.lane.thread == thread]
        x, wide = mine[0].x, sum(c.width for c in mine)
        found.append(
            f'<rect class="rr-band" x="{number(x)}" y="4" width="{number(wide)}" height="{number(height - 8)}" rx="10"/>'
            f'<text class="rr-head rr-sans" x="{number(x + PAD)}" y="24">{markup_text(thread)} on '
            f"{markup_text(mine[0].lane.node)}</text>"
        )
    for c in columns:
        found.append(
            f'<text class="rr-muted rr-sans" x="{number(c.x + PAD)}" y="44">{markup_text(lane_title(c.lane))}</text>'
            f'<path class="rr-rule" d="M{number(c.x + PAD)},{HEAD - 6}H{number(c.x + c.width - PAD)}"/>'
        )
    return found


def _row(step: TimelineStep, width: float) -> str:
    y = _y(step.number)
    return (
        f'<text class="rr-muted" x="{GUTTER - 8}" y="{number(y + 4)}" text-anchor="end">{step.number}</text>'
        f'<path class="rr-rule" d="M{GUTTER},{number(y + ROW / 2)}H{number(width - PAD)}" stroke-opacity=".35"/>'
    )


def _operation(operation: Operation, run: Timeline, columns: dict[str, _Column], slot: int) -> str:
    """Return the life line of an operation with the arrows to and from the CPU."""
    column = columns[operation.lane]
    cpu = columns[run.steps[operation.posted - 1].lane]
    x = column.x + PAD + SLOT * slot + 3
    top, end = _y(operation.posted), _y(len(run.steps)) + ROW / 2
    written = end if operation.written is None else _y(operation.written)
    sent = written if operation.sent is None else _y(operation.sent)
    parts = [f'<path class="rr-op" d="M{number(x)},{number(top)}V{number(sent)}"/>']
    if written > sent:
        parts.append(f'<path class="rr-op rr-flight" d="M{number(x)},{number(sent)}V{number(written)}"/>')
    posting = cpu.x + cpu.chips + _chip_width(run.steps[operation.posted - 1])
    parts.append(_arrow(posting, x, top, ""))
    for at in (operation.read, operation.sent, operation.written):
        if at is not None:
            parts.append(f'<path class="rr-op" d="M{number(x)},{number(_y(at))}H{number(column.x + column.chips)}"/>')
    if operation.polled is not None:
        polled = _y(operation.polled)
        if polled > written:
            parts.append(f'<path class="rr-op rr-done" d="M{number(x)},{number(written)}V{number(polled)}"/>')
        back = cpu.x + cpu.chips + _chip_width(run.steps[operation.polled - 1])
        parts.append(_arrow(x, back, polled, ' stroke-dasharray="4 3"'))
    return f'<g data-operation="{operation.number}"><title>{markup_text(_life(operation))}</title>{"".join(parts)}</g>'


def _life(operation: Operation) -> str:
    """Return when an operation was posted and took effect, in words."""
    effects = [("posted", operation.posted), ("read", operation.read), ("sent", operation.sent)]
    effects += [
        ("passed" if operation.kind in ("rfence", "order") else "in memory", operation.written),
        ("polled", operation.polled),
    ]
    told = ", ".join(f"{what} in step {step}" for what, step in effects if step is not None)
    return f"{operation.statement} (line {operation.line}): {told}"


def _arrow(start: float, end: float, y: float, style: str) -> str:
    tip = arrow_head(end, y, end - start, 0)
    return (
        f'<path class="rr-call" d="M{number(start)},{number(y)}H{number(end)}"{style}/>'
        f'<polygon class="rr-tip" points="{tip}"/>'
    )


def _chip(step: TimelineStep, column: _Column, marked: str) -> str:
    x, y = column.x + column.chips, _y(step.number) - CHIP / 2
    faint = " rr-faint" if step.kind in ("post", "send") else ""
    marks = f"rr-step rr-{column.lane.kind}{faint}{' rr-cycle' if step.on_cycle else ''}{' rr-pivot' if step.pivot else ''}"
    line = "" if step.line is None else f' data-line="{step.line}" tabindex="0"'
    event = "" if step.event is None else f' data-event="{step.event}"'
    said = f"step {step.number}: {step.text}{f'; {marked}' if step.on_cycle else ''}{' (the pivot)' if step.pivot else ''}"
    return (
        f'<g class="{marks}"{event}{line}><title>{markup_text(said)}</title>'
        f'<rect class="rr-chip" x="{number(x)}" y="{number(y)}" '
        f'width="{number(_chip_width(step))}" height="{CHIP}" rx="6"/><text x="{number(x + 8)}" y="{number(y + 16)}">'
        f'<tspan class="rr-muted">{"" if step.line is None else f"{step.line} "}</tspan>'
        f"{markup_text(fitted(step.label, LONGEST_LABEL))}</text></g>"
    )


def _chip_width(step: TimelineStep) -> float:
    line = "" if step.line is None else f"{step.line} "
    return pixel_width(line + fitted(step.label, LONGEST_LABEL)) + 16


def _y(step: int) -> float:
    return HEAD + ROW * (step - 0.5)
