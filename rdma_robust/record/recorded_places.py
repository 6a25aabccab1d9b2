"""Comments in the text of a recorded run: `//@ FILE:LINE < FILE:LINE` behind a statement is its place in the code, and
lines of their own say that this is one run, and what may order its threads that was not recorded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from rdma_robust.build import with_moved_spans
from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.language.flow.cfg import Program

ONE_RUN: Final = "//@ recorded: one way through the program"
UNRECORDED: Final = "//@ unrecorded: "
_COMMENT: Final = re.compile(r"//@ (\S[^\n]*)")


def with_places(program: Program, text: str) -> Program:
    """Return the program of a text whose statements have the places that comments behind them name, calls outwards as what
    they were expanded from, and which has the warnings of a recorded run. Statements without such a comment keep theirs, and
    so do messages."""
    lines = list(enumerate(text.split("\n"), 1))
    places = {
        number: place
        for number, line in lines
        if (found := _COMMENT.search(line)) is not None and (place := _span(found[1])) is not None
    }
    moved = with_moved_spans(program, lambda span: places.get(span.line, span))
    warnings = [made for _, line in lines if (made := _warning(line)) is not None]
    return replace(program, threads=moved.threads, warnings=(*program.warnings, *warnings))


def _warning(line: str) -> Diagnostic | None:
    if line == ONE_RUN:
        return Diagnostic("warning", "RR851", "this is one way through the program: others may differ", NO_SPAN)
    if line.startswith(UNRECORDED):
        said = f"{line.removeprefix(UNRECORDED)}, which is not recorded"
        return Diagnostic("warning", "RR852", said, NO_SPAN, hint="what is not robust may be impossible then")
    return None


def _span(chain: str) -> Span | None:
    """Return the innermost place of a chain, None if it is no chain of places."""
    span: Span | None = None
    for place in reversed(chain.split(" < ")):
        file, _, line = place.rpartition(":")
        if not file or not line.isdecimal() or not 0 < int(line) < 10**9:
            return None
        span = replace(Span.of_line(file, int(line)), origin=span)
    return span
