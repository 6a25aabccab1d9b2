"""What ends a line: a line feed, with or without a carriage return before it.

For editors and other tools more does, a carriage return alone above all: what stands behind it in a comment is a statement
on their screens, and none here. So no text that has such a character is read.
"""

from __future__ import annotations

import re
from typing import Final

from rdma_robust.diagnose import Hint, Reporter
from rdma_robust.errors import Edit, Span

_STRAY: Final = re.compile("\r(?!\n)|[\v\x85\u2028\u2029]")
_NAMES: Final = {
    "\r": "a carriage return without a line feed",
    "\v": "a vertical tab",
    "\x85": "a next-line character (U+0085)",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
}


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as spans number them, without their ends; a text without any is one empty line."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def ends_are_plain(report: Reporter) -> bool:
    """Return whether nothing ends a line for some tools and not here; report the first that does.

    Behind it others number lines otherwise, so that nothing should be said about places there.
    """
    text = report.source
    found = _STRAY.search(text)
    if found is None:
        return True
    at = found.start()
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    span = Span(line, column, line, column + 1, at, at + 1)
    hint = Hint("write a line feed instead, or save the file with other line ends", (Edit(span, "\n"),))
    report.error("RR112", span, f"{_NAMES[found[0]]} ends a line in editors, and not here", hint=hint)
    return False
