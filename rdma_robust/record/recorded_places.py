"""The places in the code that the text of a recorded run names: comments `//@ FILE:LINE < FILE:LINE` behind statements."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from rdma_robust.build import with_moved_spans
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Program

_COMMENT: Final = re.compile(r"//@ (\S[^\n]*)")


def with_places(program: Program, text: str) -> Program:
    """Return the program of a text whose statements have the places that comments behind them name, calls outwards as what
    they were expanded from. Statements without such a comment keep theirs, and so do messages."""
    places = {
        number: place
        for number, line in enumerate(text.split("\n"), 1)
        if (found := _COMMENT.search(line)) is not None and (place := _span(found[1])) is not None
    }
    moved = with_moved_spans(program, lambda span: places.get(span.line, span))
    return replace(program, threads=moved.threads)


def _span(chain: str) -> Span | None:
    """Return the innermost place of a chain, None if it is no chain of places."""
    span: Span | None = None
    for place in reversed(chain.split(" < ")):
        file, _, line = place.rpartition(":")
        if not file or not line.isdecimal() or not 0 < int(line) < 10**9:
            return None
        span = replace(Span.of_line(file, int(line)), origin=span)
    return span
