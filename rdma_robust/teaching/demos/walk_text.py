"""A walk-through for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO

from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.teaching.demos.walk import (
    Animation,
    Block,
    CodeListing,
    Figure,
    Paragraph,
    WalkSection,
    WalkTable,
    Walkthrough,
)
from rdma_robust.text import filled, printable

INDENT = "  "
UNDER_HEAD = "    \n    \n -- \n" + "    \n" * 5
"""The rules of a table in the form of rich: one below the header."""


def walk_parts(walk: Walkthrough, width: int, *, all_moves: bool) -> Iterator[list[str]]:
    """Yield the lines of the title and then of each section, at most `width` characters wide where that is possible.

    Of a run only the moves with a note are shown unless `all_moves` is set.
    """
    yield [*_underlined(walk.title, "=", width), ""]
    for section in walk.sections:
        yield _section(section, width, all_moves)


def _section(section: WalkSection, width: int, all_moves: bool) -> list[str]:
    lines = _underlined(section.heading, "-", width)
    for block in section.blocks:
        lines += ["", *_block(block, width, all_moves)]
    return [*lines, ""]


def _underlined(heading: str, with_: str, width: int) -> list[str]:
    lines = _fill(heading, width)
    return [*lines, with_ * max(map(len, lines))]


def _block(block: Block, width: int, all_moves: bool) -> list[str]:
    match block:
        case Paragraph(text):
            return _fill(text, width)
        case CodeListing(title, _, text, _):
            return [*_fill(title, width), *_indented(text)]
        case WalkTable(title, header, rows):
            return [*_fill(title, width), *_table(header, rows, width)]
        case Figure(title, _, text):
            return [*_fill(title, width), *_indented(text)]
        case Animation():
            return _run(block, width, all_moves)


def _indented(text: str) -> list[str]:
    return [f"{INDENT}{line}".rstrip() for line in printable(text, "\n").rstrip("\n").split("\n")]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    from rich import table as rich_table  # noqa: PLC0415 - slow
    from rich.box import Box  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = rich_table.Table(box=Box(UNDER_HEAD, ascii=True), show_edge=False, pad_edge=False)
    for title in header:
        table.add_column(Text(printable(title)))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console = Console(file=StringIO(), width=width - len(INDENT), color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return _indented(captured.get())


def _run(run: Animation, width: int, all_moves: bool) -> list[str]:
    chosen = [k for k, note in enumerate(run.notes) if all_moves or note]
    left_out = run.length - sum(k > 0 for k in chosen)
    title = run.title + (f" ({left_out} of its {run.length} moves are left out; --all-moves shows them)" if left_out else "")
    names = {k: _who(run, run.moves[k].action) for k in chosen}
    column = max(map(len, names.values()), default=0)
    lines = _fill(title, width)
    for k in chosen:
        lines.append(f"{INDENT}{k:4}  {names[k]:{column}}  {_what(run, run.moves[k].action)}".rstrip())
        lines += _fill(run.notes[k], width, " " * (column + 10)) if run.notes[k] else []
    return lines


def _who(run: Animation, action: Action) -> str:
    """Return whose move it is: of a thread's CPU, or of the NIC for a queue pair of it."""
    if action.step is None:
        return ""
    thread = run.program.threads[action.thread].name
    by_cpu = action.verb in (Verb.ACCESS, Verb.ISSUE, Verb.POLL)
    return f"{thread} CPU" if by_cpu else f"{thread} NIC"


def _what(run: Animation, action: Action) -> str:
    from rdma_robust.teaching.explorer.phrases import Phrases  # noqa: PLC0415 - only for runs

    return Phrases(run.program, sc=False).label(action, None)


def _fill(text: str, width: int, indent: str = "") -> list[str]:
    return filled(printable(text), width, indent)
