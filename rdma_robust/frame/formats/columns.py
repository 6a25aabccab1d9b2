"""Tables for the terminal: rows that align while they stream, and columns that give way where there is no room.

In a width, columns go by their rank until the rest fits, columns of words wrap between words, a first cell that is longer
than its column has a line of its own, and what is said beside a row goes beneath it. Without a width, for files and pipes, a
row is one line with all its columns, however long: what reads it depends on no window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.text import filled, padded, printable, width_of

PAPER: Final = 100
"""The width of paragraphs where there is no terminal."""

GAP: Final = 2
LEAST: Final = 12
"""Characters that a column of words keeps."""

WIDEST_FILE: Final = 60
BENEATH: Final = "    "


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and the width of the widest cell as far as it is known before the rows are.

    Columns with a `rank` may go, those of the highest first. One that `wraps` has words, and gives room first of all. One
    that is `right` has numbers.
    """

    head: str
    width: int = 0
    rank: int = 0
    right: bool = False
    wraps: bool = False


def of_files(files: Sequence[str], width: int | None) -> Column:
    """Return the column for the names of `files`: as wide as the longest if that leaves half of the line to the others."""
    longest = max((width_of(printable(file)) for file in files), default=0)
    return Column("file", min(longest, WIDEST_FILE if width is None else width // 2))


def sentence(text: str, width: int | None, indent: str = "") -> list[str]:
    """Return a sentence as lines, without a width as one."""
    return [f"{indent}{text}"] if width is None else filled(text, width, indent, "  ")


class Columns:
    """Columns laid out for lines of `width` characters (None: as long as need be) behind an `indent`."""

    def __init__(self, columns: Sequence[Column], width: int | None, indent: str = "") -> None:
        self._room = None if width is None else width - len(indent)
        self._indent = indent
        self._columns = columns
        widths = [max(width_of(each.head), each.width) for each in columns]
        self._shown = _fitting(columns, widths, self._room)
        needed = sum(width for _, width in self._shown) + GAP * (len(self._shown) - 1)
        self.fit = self._room is None or needed <= self._room
        """Whether the columns that are shown fit."""

    def head(self) -> list[str]:
        """Return the lines of the headings."""
        return self.row([each.head for each in self._columns])

    def row(self, cells: Sequence[str], note: str = "") -> list[str]:
        """Return the lines of a row: a cell for each column, also for one that is not shown, and what is said beside it."""
        rest = [cells[number] for number, _ in self._shown]
        lines = []
        first, width = self._shown[0]
        if self._room is not None and not self._columns[first].wraps and width_of(rest[0]) > width and len(rest) > 1:
            lines.append(rest[0])
            rest[0] = ""
        lines += self._lines(rest)
        if note:
            beside = f"{lines[-1]}{' ' * GAP}{note}"
            if self._room is None or (len(lines) == 1 and width_of(beside) <= self._room):
                lines[-1] = beside
            else:
                lines += filled(note, self._room, BENEATH)
        return [f"{self._indent}{line}" for line in lines]

    def _lines(self, cells: Sequence[str]) -> list[str]:
        """Return a row as lines, more than one if cells wrap."""
        columns = [
            (filled(cell, width) or [""]) if self._columns[number].wraps and self._room is not None else [cell]
            for (number, width), cell in zip(self._shown, cells, strict=True)
        ]
        lines = []
        for k in range(max(map(len, columns))):
            texts = [
                padded(column[k] if k < len(column) else "", width, right=self._columns[number].right)
                for (number, width), column in zip(self._shown, columns, strict=True)
            ]
            lines.append((" " * GAP).join(texts).rstrip())
        return lines


def _fitting(columns: Sequence[Column], widths: Sequence[int], room: int | None) -> list[tuple[int, int]]:
    """Return the columns that are shown, each by its number and its width."""
    shown = list(enumerate(widths))
    if room is None:
        return shown
    words = [number for number, column in enumerate(columns) if column.wraps]

    def excess() -> int:
        least = sum(min(width, LEAST) if number in words else width for number, width in shown)
        return least + GAP * (len(shown) - 1) - room

    while excess() > 0 and len(shown) > 1 and any(columns[number].rank for number, _ in shown):
        last = max(shown, key=lambda each: (columns[each[0]].rank, each[0]))
        shown.remove(last)
    for number in reversed(words):
        over = sum(width for _, width in shown) + GAP * (len(shown) - 1) - room
        shown = [(n, max(min(w, LEAST), w - over) if n == number and over > 0 else w) for n, w in shown]
    return shown
