"""A guided walk-through as plain data: what a demo tells, for the terminal and for a page alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.language.flow.cfg import Program
from rdma_robust.semantics.machines.machine import Move


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
