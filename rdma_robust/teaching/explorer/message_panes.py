"""What is seen at a place of a message program as styled text for the terminal. Nothing of a program is taken for markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from rdma_robust.teaching.explorer.message_view import (
    EndpointView,
    MessageMoveView,
    MessageProgramView,
    MessageVerdictView,
    MessageView,
    NamedView,
    ProcessView,
)
from rdma_robust.teaching.explorer.panes import BAD, KINDS, RDMA, SC, STATUS_STYLE

VERDICTS: Final = {"fine": ("OK", "bold green"), "wrong": ("GOES WRONG", f"bold {BAD}"), "unknown": ("undecided", "yellow")}
ENDS: Final = {
    "complete": ("Complete.", "bold green"),
    "deadlock": ("Deadlock.", f"bold {BAD}"),
    "stopped": ("Stopped.", "bold yellow"),
}


def message_top(about: MessageProgramView, view: MessageView, verdict: MessageVerdictView | None, *, auto: bool) -> Text:
    """Return the line at the top."""
    word, style = ("deciding …", "dim") if verdict is None else VERDICTS[verdict.verdict]
    why = "" if verdict is None else f" {verdict.text}"
    steps = "  local steps by themselves" if auto else ""
    return Text.assemble(
        (about.name, "bold"),
        "  ",
        (about.file, "dim"),
        "  ",
        (word, style),
        (why, "dim"),
        f"  buffer {view.buffer}",
        (steps, "dim"),
    )


def message_source(about: MessageProgramView, view: MessageView) -> Text:
    """Return the source with the processes' places."""
    marks: dict[int, list[tuple[str, str]]] = {}
    for process in view.processes:
        if process.line is not None:
            style = SC if process.status == "waiting" else RDMA
            marks.setdefault(process.line, []).append((f" ◂{process.name}", style))
    lines = []
    for number, pieces in enumerate(about.coloured, 1):
        row = Text.assemble((f"{number:4} ", "dim"), *((text, KINDS[kind]) for kind, text in pieces), no_wrap=True)
        lines.append(row + Text.assemble(*marks.get(number, ())))
    return Text("\n").join(lines)


def message_head(view: MessageView) -> Text:
    title = Text.assemble(("Run", f"bold {RDMA}"), (f"   step {view.at} of {len(view.steps)}", "dim"))
    if view.moves:
        title.append("\nWhat can happen next", "dim")
    return title


def message_options(view: MessageView) -> list[tuple[int, Text]]:
    """Return the moves that can be made, by their numbers."""
    planned = view.steps[view.at].choice if view.at < len(view.steps) else None
    return [(move.choice, _option(move, move.choice == planned)) for move in view.moves]


def _option(move: MessageMoveView, planned: bool) -> Text:
    return Text.assemble(
        (f"{move.choice + 1:2} ", "dim"),
        (f"{move.process} ", "bold"),
        _plain(move.label),
        (f"  line {move.line}" if move.line is not None else "", "dim"),
        (" ◂ this run", RDMA) if planned else "",
        (f"\n    {_plain(move.hint)}" if move.hint else "", "dim"),
        ("".join(f"\n    {each}" for each in move.faults), BAD),
    )


def _plain(text: str) -> str:
    return text.replace("`", "")


def message_state(view: MessageView) -> Text:
    """Return how the run stands: the end, what went wrong, processes, what is not matched, the run."""
    parts = {
        "Processes": Text("\n").join(map(_process, view.processes)),
        "Not matched yet": Text("\n").join(map(_endpoint, view.endpoints)),
        "The run": Text("\n").join(_run(view)),
    }
    titled = (Text.assemble((f"{title}\n", "dim"), part) for title, part in parts.items() if part.plain)
    return Text("\n\n").join([*_message_banners(view), *titled])


def _message_banners(view: MessageView) -> Iterable[Text]:
    if view.end.kind:
        word, style = ENDS[view.end.kind]
        reasons = "".join(f"\n {each}" for each in view.end.reasons)
        advice = f"\n{_plain(view.end.advice)}" if view.end.advice else ""
        yield Text.assemble((word, style), f" {view.end.text}", reasons, (advice, "dim"))
    if view.violations:
        yield Text("\n".join(map(_plain, view.violations)), BAD)


def _named(values: Sequence[NamedView]) -> list[str | tuple[str, str]]:
    return [(f" {each.name} = {each.value} ", "reverse" if each.changed else "") for each in values]


def _process(process: ProcessView) -> Text:
    where = f" line {process.line}" if process.line is not None else ""
    text = "" if process.status in ("ended", "stopped") else f" {process.text}"
    row = Text.assemble(
        (process.name, "bold"),
        " (daemon)" if process.daemon else "",
        (f" {process.status}", STATUS_STYLE[process.status]),
        f"{where}{text}",
        (f"\n  {process.note}" if process.note else "", "yellow"),
    )
    for values in (process.registers, process.requests):
        if values:
            row += Text.assemble("\n ", *_named(values))
    return row


def _endpoint(endpoint: EndpointView) -> Text:
    row = Text.assemble(("to ", "dim"), (endpoint.name, "bold"))
    for title, items in (("messages", endpoint.sends), ("receives", endpoint.receives)):
        if items:
            row.append(f"\n  {title}: {', '.join(each.text for each in items)}")
    return row


def _run(view: MessageView) -> Iterable[Text]:
    for number, step in enumerate(view.steps, 1):
        style = "dim italic" if number > view.at else BAD if step.faults else "bold" if number == view.at else ""
        mark = "▸" if number == view.at else " "
        yield Text(f"{mark}{number:3} {step.process} {_plain(step.label)}", style)
