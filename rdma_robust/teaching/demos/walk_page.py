"""A walk-through as one HTML page that needs nothing else: no network, no folder beside it.

The content security policy of the page forbids every connection and every script but its own; all text from outside goes
through the escaping of the templates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import Final

from jinja2 import Environment

from rdma_robust.language.flow.cfg import Program, Thread, steps
from rdma_robust.reports.share.html_templates import Line, asset, coloured_lines, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, page_script
from rdma_robust.teaching.demos.frames import Film, film, packed
from rdma_robust.teaching.demos.walk import Animation, Block, CodeListing, Figure, Paragraph, WalkTable, Walkthrough
from rdma_robust.text import printable

PACKAGE: Final = "rdma_robust.teaching.demos"
HUES: Final = 6
"""Colours for nodes; with more nodes they begin anew."""

LONG: Final = 40
"""Lines of a listing that scrolls instead of taking more room than a window has."""


@dataclass(frozen=True, slots=True)
class ThreadBox:
    """`registers` are (name, slot, value at the start)."""

    number: int
    name: str
    registers: tuple[tuple[str, int, int], ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class NodeBox:
    """`words` are (name, slot, value at the start)."""

    name: str
    hue: int
    words: tuple[tuple[str, int, int], ...]
    threads: tuple[ThreadBox, ...]


@dataclass(frozen=True, slots=True)
class QueueLane:
    """A queue pair as a pipe between nodes, which are given with their colours."""

    number: int
    thread: str
    node: tuple[str, int]
    remote: tuple[str, int]
    gets: bool
    polls: bool


@dataclass(frozen=True, slots=True)
class RunBox:
    """A run as the template sees it. `stops` are the numbers of the moves with a note, and the notes."""

    id: str
    title: str
    last: int
    nodes: tuple[NodeBox, ...]
    lanes: tuple[QueueLane, ...]
    stops: tuple[tuple[int, str], ...]
    data: str


def walk_page(walk: Walkthrough) -> str:
    """Return the whole page. Raises InternalError if the moves of an animation are not a run of its program."""
    numbered = _NumberedRuns()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            walk=walk,
            sections=[(s.heading, [(type(b).__name__, numbered.block(b)) for b in s.blocks]) for s in walk.sections],
            animated=any(isinstance(block, Animation) for section in walk.sections for block in section.blocks),
            title=walk.title,
            style=PAGE_STYLE + asset(PACKAGE, "page.css") + asset(PACKAGE, "run.css"),
            script=page_script(asset(PACKAGE, "page.js") + asset(PACKAGE, "run.js")),
        )
    )


class _NumberedRuns:
    """The blocks as the template sees them, the runs numbered in the order of the page."""

    def __init__(self) -> None:
        self.runs = 0

    def block(self, block: Block) -> object:
        match block:
            case Animation():
                self.runs += 1
                return run_box(block, f"run{self.runs}")
            case CodeListing():
                return _code(block)
            case Figure():
                # What stands before the element in a file of its own has no place in HTML.
                return replace(block, svg=block.svg[max(block.svg.find("<svg"), 0) :])
            case Paragraph() | WalkTable():
                return block


def _code(code: CodeListing) -> Mapping[str, object]:
    lines = coloured_lines(code.text, code.language)
    return {
        "title": code.title,
        "language": code.language,
        "lines": lines,
        "long": len(lines) > LONG,
        "file": PurePath(code.file).name,
        # What cannot be shown as it is would not be saved as it is.
        "exact": printable(code.text, "\n\t") == code.text,
    }


def run_box(animation: Animation, name: str) -> RunBox:
    """Return what the template shows of a run that is called `name` in the page. Raises InternalError as `film` does."""
    shot = film(animation)
    program = animation.program
    hues = {node: number % HUES for number, node in enumerate(program.nodes)}
    lanes = tuple(
        QueueLane(
            number,
            program.threads[queue.thread].name,
            (program.threads[queue.thread].node, hues[program.threads[queue.thread].node]),
            (queue.remote, hues[queue.remote]),
            queue.gets,
            queue.polls,
        )
        for number, queue in enumerate(shot.queues)
    )
    return RunBox(
        id=name,
        title=animation.title,
        last=animation.length,
        nodes=tuple(_nodes(program, shot, hues)),
        lanes=lanes,
        stops=tuple((number, note) for number, note in enumerate(animation.notes) if note),
        data=_json({**packed(shot), "stops": [number for number, note in enumerate(animation.notes) if note]}),
    )


def _nodes(program: Program, shot: Film, hues: Mapping[str, int]) -> Iterator[NodeBox]:
    slot = len(shot.cells)
    start = dict(shot.frames[0].changes)
    boxes: dict[str, list[ThreadBox]] = {node: [] for node in program.nodes}
    for number, thread in enumerate(program.threads):
        registers = tuple((name, slot + i, start.get(slot + i, 0)) for i, (name, _) in enumerate(thread.registers))
        slot += len(registers)
        boxes[thread.node].append(ThreadBox(number, thread.name, registers, thread_lines(program, thread)))
    for node, threads in boxes.items():
        words = tuple((cell.name, i, start.get(i, 0)) for i, cell in enumerate(shot.cells) if cell.node == node)
        yield NodeBox(node, hues[node], words, tuple(threads))


def _json(data: Mapping[str, object]) -> str:
    """Return data as JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


@cache
def _environment() -> Environment:
    environment = templates(PACKAGE)
    # In a terminal a title leads to what stands below it.
    environment.filters.update(numeric=_numeric, title_only=lambda text: text.strip().removesuffix(":"))
    return environment


def _numeric(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether a column of a table has only numbers, maybe with a unit, which stand best at the right."""
    cells = [row[column] for row in rows if column < len(row) and row[column] not in ("", "-", "–")]
    return bool(cells) and all(re.fullmatch(r"[-+<>~≤≥]? ?[0-9][0-9,.]*( ?[%a-zA-Zµ]{1,3})?", cell) for cell in cells)


def thread_lines(program: Program, thread: Thread) -> tuple[Line, ...]:
    """Return the lines of the program that declare `thread`; none if the program has no text."""
    lines = coloured_lines(program.source, "rdma") if program.source else ()
    texts = ["".join(piece for _, piece in line.pieces) for line in lines]
    spans = [step.span for _, _, step in steps(thread)]
    head = re.compile(rf"\bthread\s+{re.escape(thread.name)}\b")
    first = next((n for n, text in enumerate(texts, 1) if head.search(text.partition("//")[0])), 0)
    first = first or min((span.line for span in spans), default=1)
    last = max((span.end_line for span in spans), default=first)
    while last < len(lines) and "}" in texts[last] and not texts[last].replace("}", "").strip():
        last += 1
    return lines[first - 1 : last]
