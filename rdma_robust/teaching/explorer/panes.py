"""What is seen at a place as styled text for the terminal. Nothing of a program is taken for markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from rdma_robust.reports.share.coloured import Kind
from rdma_robust.teaching.explorer.address import Side
from rdma_robust.teaching.explorer.view import MoveView, OperationView, ProgramView, SideView, ValueView, VerdictView, View

RDMA, SC, BAD = "#c3a6ff", "#79c0ff", "#ff7b72"
"""Colours for the dark background that the interface paints."""

KINDS: dict[Kind, str] = {"": "", "word": RDMA, "number": SC, "text": "green", "comment": "dim"}
TITLES = {"rdma": "RDMA hardware", "sc": "Sequential consistency"}
STATUS_STYLE = {"ready": "green", "waiting": "yellow", "stopped": "yellow", "ended": "dim"}
VERDICTS = {
    "robust": ("robust", "bold green"),
    "not-robust": ("NOT ROBUST", f"bold {BAD}"),
    "unknown": ("undecided", "yellow"),
}


def who(move: MoveView) -> str:
    if move.agent == "start":
        return "start"
    return f"{move.thread} CPU" if move.agent == "cpu" else f"{move.thread} NIC → {move.remote}"


def phrase(move: MoveView) -> str:
    """Return what a move does, with the number of its operation."""
    return f"#{move.operation} {move.label}" if move.operation is not None and move.agent == "nic" else move.label


def status_line(about: ProgramView, view: View, verdict: VerdictView | None) -> Text:
    word, style = ("deciding …", "dim") if verdict is None else VERDICTS[verdict.verdict]
    mode = "SC follows RDMA" if view.mode == "follow" else "each side on its own"
    return Text.assemble((about.name, "bold"), "  ", (about.file, "dim"), "  ", (word, style), "  ", (mode, "dim"))


def source_pane(about: ProgramView, view: View) -> Text:
    """Return the source with the threads' places, operations under way, and the lines of a cycle."""
    marks: dict[int, list[tuple[str, str]]] = {}
    for side, style in ((view.rdma, RDMA), (view.sc, SC)):
        for thread in side.threads:
            for line in thread.lines:
                marks.setdefault(line, []).append((f" ◂{thread.name}", style))
    for queue in view.rdma.queues:
        for operation in (*queue.pipe, *queue.remote_writes, *queue.local_writes):
            marks.setdefault(operation.line, []).append((f" #{operation.number}", f"bold {RDMA}"))
    cycle = set(view.broken.lines) if view.broken is not None else set()
    lines = []
    for number, pieces in enumerate(about.coloured, 1):
        told = ((text, BAD if number in cycle else KINDS[kind]) for kind, text in pieces)
        row = Text.assemble((f"{number:4} ", "dim"), *told, no_wrap=True)
        lines.append(row + Text.assemble(*marks.get(number, ())))
    return Text("\n").join(lines)


def head(view: View, side: Side) -> Text:
    shown = view.rdma if side == "rdma" else view.sc
    follows = side == "sc" and view.mode == "follow"
    place = (
        f"{shown.at} {'step' if shown.at == 1 else 'steps'}, follows"
        if follows
        else f"step {shown.at} of {len(shown.steps)}"
    )
    title = Text.assemble((TITLES[side], f"bold {RDMA}" if side == "rdma" else f"bold {SC}"), (f"   {place}", "dim"))
    if shown.moves and not follows:
        title.append("\nWhat can happen next", "dim")
    return title


def options(side: SideView) -> list[tuple[int, Text]]:
    """Return the moves that can be made, by their numbers."""
    planned = side.steps[side.at].choice if side.at < len(side.steps) else None
    return [(move.choice, _option(move, move.choice == planned)) for move in side.moves]


def _option(move: MoveView, planned: bool) -> Text:
    line = f"  line {move.line}" if move.line is not None else ""
    more = "".join(f"\n    {each}" for each in (move.then, *move.faults) if each)
    return Text.assemble(
        (f"{move.choice + 1:2} ", "dim"),
        (who(move) + " ", "bold"),
        phrase(move),
        (line, "dim"),
        (" ◂ this run", RDMA) if planned else "",
        (more, "yellow"),
    )


def state(view: View, side: Side) -> Text:
    """Return the state of one machine: banners, threads, memory, queue pairs, the run."""
    shown = view.rdma if side == "rdma" else view.sc
    parts = {
        "Threads": _threads(shown),
        "Memory": _memory(shown),
        "Queue pairs": _queues(shown) if side == "rdma" else Text(),
        "The run": _run(view, side, shown),
    }
    titled = (Text.assemble((f"{title}\n", "dim"), part) for title, part in parts.items() if part.plain)
    return Text("\n\n").join([*_banners(view, side, shown), *titled])


def _banners(view: View, side: Side, shown: SideView) -> Iterable[Text]:
    if view.broken is not None and side == "rdma":
        yield Text(f"From step {view.broken.step} on, no run under sequential consistency has these effects.", BAD)
    elif view.broken is not None and view.mode == "follow":
        why = "".join(f"\n ↻ {link}" for link in view.broken.cycle)
        yield Text.assemble((f"SC cannot follow RDMA step {view.broken.step}:", f"bold {BAD}"), why)
    if shown.ending_text:
        claims = "".join(f"\n line {c.line}: {c.text}: {'holds' if c.holds else 'does not hold'}" for c in shown.claims)
        yield Text.assemble((shown.ending_text, "bold"), claims)
    if shown.faults:
        yield Text("\n".join(shown.faults), "yellow")


def _values(values: Sequence[ValueView]) -> list[str | tuple[str, str]]:
    return [(f" {v.name} = {v.value} ", "reverse" if v.changed else "") for v in values]


def _threads(side: SideView) -> Text:
    rows = []
    for thread in side.threads:
        where = f" line {', '.join(map(str, thread.lines))}" if thread.lines else ""
        row = Text.assemble((thread.name, "bold"), f" on {thread.node}", (f" {thread.status}", STATUS_STYLE[thread.status]))
        row.append(f"{where} {thread.text}" if thread.status != "ended" else "")
        row.append(f"\n  {thread.carries}" if thread.carries else "")
        if thread.registers:
            row += Text.assemble("\n ", *_values(thread.registers))
        rows.append(row)
    return Text("\n").join(rows)


def _memory(side: SideView) -> Text:
    rows = [Text.assemble((f"{node.name}:", "bold"), *_values(node.cells)) for node in side.nodes if node.cells]
    return Text("\n").join(rows)


def _queues(side: SideView) -> Text:
    rows = []
    for queue in side.queues:
        polls = [f"#{o.number} {'complete' if i < queue.complete else 'open'}" for i, o in enumerate(queue.unpolled)]
        lanes = {
            "pipe": [_operation(o) for o in queue.pipe],
            f"buffer to {queue.remote}": [_operation(o) for o in queue.remote_writes],
            "buffer to own memory": [_operation(o) for o in queue.local_writes],
            "to be polled": polls,
        }
        filled = [f"\n  {name}: {', '.join(items)}" for name, items in lanes.items() if items]
        rows.append(
            Text.assemble((f"{queue.thread} → {queue.remote}", "bold"), "".join(filled), ("" if filled else " empty", "dim"))
        )
    return Text("\n").join(rows)


def _operation(operation: OperationView) -> str:
    if "=" in operation.value:
        return f"#{operation.number} {operation.value}"
    return f"#{operation.number} {operation.text}" + (f" ({operation.value})" if operation.value else "")


def _run(view: View, side: Side, shown: SideView) -> Text:
    rows = []
    for number, step in enumerate(shown.steps, 1):
        breaks = side == "rdma" and view.broken is not None and view.broken.step == number
        style = "dim italic" if number > shown.at else BAD if breaks else "bold" if number == shown.at else ""
        mark = "▸" if number == shown.at else " "
        rows.append(Text(f"{mark}{number:3} {who(step)} {phrase(step)}", style))
    return Text("\n").join(rows)
