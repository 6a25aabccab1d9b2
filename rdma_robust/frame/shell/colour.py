"""Colour where the terminal has it: verdicts, `error:`, carets, differences.

What is written says it all without colour, and knows nothing of it: the words that answer are few, and found here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Final, Literal, TextIO

When = Literal["auto", "always", "never"]

BAD: Final = "1;31"
OPEN: Final = "33"
GOOD: Final = "32"
NOTE: Final = "36"
FAINT: Final = "2"
STRONG: Final = "1"

_CHOICE: list[When] = ["auto"]


def choose(when: When) -> None:
    """Say when there is colour, for all that this process and those it starts write from now on."""
    _CHOICE[:] = [when]


def colourful(stream: TextIO | None) -> bool:
    """Return whether what is written to a stream has colour.

    By default a terminal has it. Of the environment counts, in this order: NO_COLOR (not empty: none), FORCE_COLOR and
    CLICOLOR_FORCE (not empty, not 0: everywhere), CLICOLOR=0 and TERM=dumb (none).
    """
    if _CHOICE[0] != "auto" or stream is None:
        return _CHOICE[0] == "always" and stream is not None
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    if os.environ.get("CLICOLOR") == "0" or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def is_asked_for() -> bool:
    """Return whether --color always was given: what other tools read has colour for nothing less."""
    return _CHOICE[0] == "always"


def coloured(text: str, stream: TextIO | None) -> str:
    """Return a text for people with colour, if it has any on this stream."""
    return painted(text) if colourful(stream) else text


def painted(text: str) -> str:
    """Return a text for people with colour. Without the colour it is the same."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    for pattern, paint in _LINES:
        found = pattern.match(line)
        if found is not None:
            return paint(found)
    return _ANSWERS.sub(lambda found: _shown(found[0], _STYLES[found[0]]), line)


def _shown(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text else ""


def _whole(style: str) -> Callable[[re.Match[str]], str]:
    return lambda found: _shown(found[0], style)


def _message(found: re.Match[str]) -> str:
    place, kind, text = found["place"], found["kind"], found["text"]
    text = re.sub(r" \[RR\d{3}\]$", lambda code: _shown(code[0], FAINT), text)
    return f"{_shown(place, STRONG)}{_shown(f'{kind}:', _KINDS[kind])}{text}"


_KINDS: Final = {
    "internal error": BAD,
    "error": BAD,
    "warning": OPEN,
    "unknown": OPEN,
    "interrupted": OPEN,
    "hint": NOTE,
    "note": NOTE,
}
_LOUD: Final = {
    **dict.fromkeys(("NOT ROBUST", "UNSAFE", "VIOLATED", "FAILS", "INVALID", "NO REPAIR", "REACHABLE", "<- only RDMA"), BAD),
    **dict.fromkeys(("UNKNOWN", "UNREACHABLE", "CUT"), OPEN),
    "VALID": GOOD,
}
_CELLS: Final = {
    **dict.fromkeys(("error", "NO"), BAD),
    **dict.fromkeys(("unknown", "undecided", "refused"), OPEN),
    **dict.fromkeys(("robust", "safe", "verified", "holds"), GOOD),
}
"""The words that answer: wherever they stand, and where they are a cell of a table."""

_STYLES: Final = {**_LOUD, **_CELLS}
_ANSWERS: Final = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(_LOUD)})(?![\w.-])|(?<=  )(?:{'|'.join(_CELLS)})(?=  |$)",
)
_LINES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (
        re.compile(rf"(?P<place>(?:\S.*?: )?\s*)(?P<kind>{'|'.join(_KINDS)}):(?P<text>(?: .*)?)$"),
        _message,
    ),
    (re.compile(r"\s*\d* \|\s+\^[\^~]*.*$"), _whole(BAD)),
    (re.compile(r"(?:\+\+\+|---) .*$"), _whole(STRONG)),
    (re.compile(r"@@ .*$"), _whole(NOTE)),
    (re.compile(r"\+.*$"), _whole(GOOD)),
    (re.compile(r"-(?!-*$).*$"), _whole(BAD)),
)
"""Lines of a certain form: a message, a caret below a line of a program, a difference."""
