"""A section of a report: the answers to one question about other files than those that share memory, for every form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.junit import Case
from rdma_robust.frame.formats.sarif import ScannedFile

CsvRow = Mapping[str, object]
"""The values of a row of numbers, by the names of their columns."""


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A row of a table: its cells, of which the first is the file and the last a note.

    `colours` are those of cells that are answers, `summary` is said behind the file where `page` is folded away: what is
    behind the row as HTML, '' if that was not made.
    """

    cells: tuple[str, ...]
    colours: Mapping[int, str]
    page: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """The answers to one question. `name` is its member in JSON, `line` its totals in a sentence.

    `heading` is what a page calls it, `label` what the table is of, `legend` explains answers, as HTML. The first `left`
    of the `columns` are aligned to the left. `numbers` are rows of a table of numbers.
    """

    name: str
    title: str
    heading: str
    label: str
    line: str
    columns: tuple[str, ...]
    left: int
    rows: Sequence[SectionRow]
    numbers: Sequence[CsvRow]
    objects: Sequence[JsonObject]
    cases: Sequence[Case]
    files: Sequence[ScannedFile]
    legend: str = ""


def numbered_line(counted: str, numbers: Mapping[str, int], expected: tuple[int, int] | None) -> str:
    """Return totals in a sentence: what was `counted`, the numbers of each answer that there is, and how many answers are
    as expected and not, where that counts."""
    said = ", ".join(f"{number} {word}" for word, number in numbers.items() if number)
    compared = "" if expected is None else f"; {expected[0]} as expected, {expected[1]} not"
    return f"{counted}: {said or 'none decided'}{compared}"
