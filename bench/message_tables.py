"""The table of docs/benchmarks-messages.md that sets ways to solve side by side, from what bench/data holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from bench.records import Solving, load

PAPER_S: Final = {30: 36.0, 40: 202.0, 50: 971.0, 60: 2849.0, 70: 7230.0}
"""The seconds that the paper reports for the goal `given`, by senders."""

WAYS: Final = ("paper", "paper, whole order", "smt", "sat")


def solvers() -> Iterator[str]:
    yield "| program | size | verdict | the paper, 2013 | its encoding today | with the whole order | `smt` | `sat` |"
    yield "|---|--:|---|--:|--:|--:|--:|--:|"
    rows = load("message-solvers", Solving)
    for family, size in dict.fromkeys((row.family, row.size) for row in rows):
        of = {row.way: row for row in rows if (row.family, row.size) == (family, size)}
        right = next((row.verdict for way in ("sat", "smt") if (row := of.get(way)) and row.seconds is not None), "")
        told = f"{PAPER_S[size]:,.0f}" if family == "given" and size in PAPER_S else ""
        cells = [_cell(of.get(way), right) for way in WAYS]
        yield f"| {family} | {size} | {right} | {told} | {' | '.join(cells)} |"


def _cell(row: Solving | None, right: str) -> str:
    if row is None:
        return ""
    if row.seconds is None:
        return "> 60"
    return f"{row.seconds:.2f}" + ("" if row.verdict == right or not right else f", wrong: {row.verdict}")


TABLES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {"message-solvers": solvers}
