"""A guided walk-through as plain data: what a demo tells, for the terminal and for a page alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.teaching.explorer.run_tree import LONGEST
from rdma_robust.teaching.explorer.session import witness_choices
from rdma_robust.text import filled, printable


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text; a word between backquotes is code."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeListing:
    """A listing. `language` is what it is written in, `file` the name it may be saved under, empty if it has none."""

    title: str
    language: Literal["rdma", "spec", "json", "console"]
    text: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class WalkTable:
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing as an SVG element for pages, and in words for the terminal."""

    title: str
    svg: str
    text: str


@dataclass(frozen=True, slots=True)
class Animation:
    """A run of the operational machine of `program`, to be stepped through.

    `moves` begins with the start; `notes` has for each move what it means for the demo, empty where the machine's
    own wording says enough. A move with a note is one that a reader in a hurry should stop at.
    """

    title: str
    program: Program
    moves: tuple[Move, ...]
    notes: tuple[str, ...]

    @property
    def length(self) -> int:
        """How many moves people are told it has: the start, number 0, is none."""
        return len(self.moves) - 1


Block = Paragraph | CodeListing | WalkTable | Figure | Animation


@dataclass(frozen=True, slots=True)
class WalkSection:
    heading: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Walkthrough:
    """A demo's walk-through: `demo` is its name on the command line, `command` what has been asked for."""

    demo: str
    title: str
    command: str
    sections: tuple[WalkSection, ...]


def try_next(*commands: str) -> WalkSection:
    """Return the last section of a walk-through: commands of the tool, one a line."""
    text = "".join(f"$ rdma-robust {each}\n" for each in commands)
    return WalkSection("What to try next", (CodeListing("", "console", text),))


def decide_generated(text: str, file: str, timeout: float | None) -> Outcome:
    """Return whether the program in `text` is robust. Raises ProgramError."""
    return check_program(load_decidable(text, file), CheckOptions(timeout=timeout))


def sizes(outcome: Outcome) -> str:
    """Return how large the search was, in words."""
    counts = outcome.counts
    return f"{counts.states:,} states and {counts.counters:,} unbounded counters"


def witness_run(outcome: Outcome) -> tuple[Move, ...] | None:
    """Return the run of the machine behind the witness, from its start; None if it is too long to be looked at."""
    choices = witness_choices(outcome, RDMA)
    if choices is None:
        return None
    machine = RdmaMachine(outcome.program)
    starts = machine.initial()
    # A machine that starts in one way has started before the first choice.
    first, *others = choices if starts.number > 1 else (0, *choices)
    moves = [starts[first]]
    for choice in others:
        moves.append(machine.successors(moves[-1].state)[choice])
    return tuple(moves)


def told_run(outcome: Outcome, title: str, notes: Callable[[tuple[Move, ...]], tuple[str, ...]]) -> Block:
    """Return the run of a program that is not robust, with the notes that `notes` makes, or why it is not shown."""
    assert outcome.verdict is Verdict.NOT_ROBUST
    moves = witness_run(outcome)
    if moves is None:
        return Paragraph(f"The run has more than {LONGEST:,} steps, too many to be shown here.")
    return Animation(title, outcome.program, moves, notes(moves))


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
    from rdma_robust.teaching.explorer.sides import Phrases  # noqa: PLC0415 - only for runs

    return Phrases(run.program, sc=False).label(action, None)


def _fill(text: str, width: int, indent: str = "") -> list[str]:
    return filled(printable(text), width, indent)
