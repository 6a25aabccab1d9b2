"""What a report shows of one program beyond its row: parts of HTML and SVG, made where the program was decided."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """The parts of the detailed view of a program; empty strings where there is nothing to show.

    `headline` and `text` explain the verdict in plain text, code in backquotes. `source`, `timeline`, `graph` and `orders`
    are well-formed HTML and SVG in which everything from outside is escaped. `repair` is a unified diff, `repair_note` what
    it inserts or why there is none, both plain text. `problem` says what part could not be made, and why; `cut` that more
    time could have given more.
    """

    headline: str = ""
    text: tuple[str, ...] = ()
    source: str = ""
    timeline: str = ""
    graph: str = ""
    orders: str = ""
    repair: str = ""
    repair_note: str = ""
    problem: str = ""
    cut: bool = False
