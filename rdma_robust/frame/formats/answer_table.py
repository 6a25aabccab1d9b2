"""A table of answers for the terminal, whatever the question: a row for each answer, lines beneath it, totals at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple

from rdma_robust.frame.answer import Counts, R
from rdma_robust.frame.formats.columns import PAPER, Column, Columns, of_files, sentence
from rdma_robust.frame.question import Layout, Section
from rdma_robust.text import count, printable


def beneath(lines: Iterable[str]) -> list[str]:
    """Return what explains a row, indented, between empty lines; nothing if there is nothing to say."""
    body = [f"  {line}".rstrip() for line in lines]
    return ["", *body, ""] if body else []


def expected_cell(as_expected: bool | None, *, claimed: bool) -> str:
    """Return whether an answer is the expected one: `yes`, `NO`, `?` (open), or `-` if nothing is claimed of it."""
    return {True: "yes", False: "NO", None: "?"}[as_expected] if claimed else "-"


def last_line(
    counted: str,
    numbers: Sequence[tuple[str, int]],
    errors: int,
    *,
    done: int,
    requested: int,
    interrupted: bool,
    time_s: float,
    expected: tuple[int, int] | None = None,
    note: str = "",
    further: str = "",
    width: int | None = None,
) -> list[str]:
    """Return the totals: what was `counted`, as in `3 programs`, and the numbers of each answer that there is.

    `expected` are the answers that are as expected and those that are not, where that counts. A `note` is said of the
    numbers, `further` before the time. Of `requested` inputs so many are `done`, which is said if the run was `interrupted`.
    """
    every = [*numbers, ("error" if errors == 1 else "errors", errors)]
    line = f"{counted}: {', '.join(f'{number} {word}' for word, number in every if number) or 'none decided'}{note}"
    if expected is not None:
        line += f"; {expected[0]} as expected, {expected[1]} not"
    if interrupted:
        line = f"interrupted: {done} of {requested} done; {line}"
    return sentence(f"{line}{further}; {time_s:.2f} s", width)


class Row(NamedTuple):
    """One row: a cell for each column behind the file, a note to the right of it, and the lines beneath."""

    cells: Sequence[str]
    note: str = ""
    lines: Sequence[str] = ()


class Totals(NamedTuple):
    """The last line of a table: what was counted, the numbers of the answers, a note on them, what stands before the
    time."""

    counted: str
    numbers: Sequence[tuple[str, int]]
    note: str = ""
    further: str = ""


@dataclass(frozen=True)
class AnswerTable(Generic[R]):
    """Writes lines for answers about files that are known beforehand, so that rows align while they stream.

    `rows` makes rows of a record and the room for lines beneath. `expect` says whether the answers are compared with
    `expect` lines, `explained` whether lines beneath are shown.
    """

    layout: Layout
    columns: Sequence[Column]
    rows: Callable[[R, int], Iterable[Row]]
    last: Callable[[Sequence[R], Counts], Totals]
    expect: bool
    explained: bool

    @cached_property
    def _columns(self) -> Columns:
        return Columns((of_files(self.layout.files, self.layout.width), *self.columns), self.layout.width)

    def header(self) -> list[str]:
        """Return the headings."""
        return self._columns.head()

    def lines(self, record: R) -> list[str]:
        """Return the rows of a record and, where that is wanted, what explains them."""
        lines: list[str] = []
        for row in self.rows(record, (self.layout.width or PAPER) - 2):
            lines += self._columns.row((printable(record.file), *row.cells), row.note)
            lines += beneath(row.lines) if self.explained and row.lines else []
        return lines

    def totals(self, section: Section[Any, R]) -> list[str]:
        """Return the last line."""
        return totals_line(self.last(section.records, section.counts), section.counts, self.expect, self.layout.width)


def totals_line(totals: Totals, counts: Counts, expect: bool, width: int | None) -> list[str]:
    """Return the last line of a table."""
    return last_line(
        totals.counted,
        totals.numbers,
        counts["error"],
        done=counts.done,
        requested=counts.requested,
        interrupted=counts.interrupted,
        time_s=counts.time_s,
        expected=(counts["as_expected"], counts["mismatched"]) if expect else None,
        note=totals.note,
        further=totals.further,
        width=width,
    )


def verdict_totals(*words: str) -> Callable[[Sequence[object], Counts], Totals]:
    """Return the totals of a question whose inputs have one of these verdicts each."""
    return lambda _, counts: Totals(
        count(counts.done, counts.noun), [(word.replace("_", " "), counts[word]) for word in words]
    )


@dataclass(frozen=True)
class AnswerParagraphs(Generic[R]):
    """Lines for each program, whatever the question, and the totals of many; if quiet, not of one that is `fine`."""

    layout: Layout
    of: Callable[[R, int | None], list[str]]
    said: Callable[[Counts], str]
    fine: Callable[[R], bool]

    def header(self) -> list[str]:
        """Return nothing: a program has lines, not a row."""
        return []

    def lines(self, record: R) -> list[str]:
        """Return the lines of a program; an error of the only one is on standard error already."""
        if (self.layout.quiet and self.fine(record)) or (self.layout.alone and record.error_kind is not None):
            return []
        return self.of(record, self.layout.width)

    def totals(self, section: Section[Any, R]) -> list[str]:
        """Return the last lines of the text for many programs."""
        counts = section.counts
        if counts.requested == 1:
            return []
        cut = f"interrupted: {counts.done} of {counts.requested} done; " if counts.interrupted else ""
        return sentence(f"{cut}{self.said(counts)}; {counts.time_s:.2f} s", self.layout.width)


def counted(counts: Counts, words: Iterable[tuple[str, str]]) -> str:
    """Return how many programs there are, and of how many a word is said, in these words."""
    said = ", ".join(f"{counts[word]} {told}" for word, told in words if counts[word])
    return f"{count(counts.done, 'program')}{f': {said}' if said else ''}"
