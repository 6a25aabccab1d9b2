"""Text for people: what comes from outside (file names, programs) made harmless for a terminal, numbers with their nouns."""

from __future__ import annotations

import textwrap
from typing import Final
from unicodedata import combining, east_asian_width

_JSON_MISTAKES: Final = {
    "Expecting value": "a value is missing",
    "Expecting ','": "a comma is missing",
    "Expecting ':'": "a colon is missing",
    "Expecting property": "a name in double quotes is missing",
    "Illegal trailing comma": "a comma too many",
    "Extra data": "it goes on after its end",
    "Unterminated string": "a string does not end",
    "Invalid control character": "a control character in a string",
    "Invalid \\": "an escape that there is not",
    "Unexpected UTF-8 BOM": "it begins with a byte order mark",
}
"""What the reader of JSON says, by how it begins, in other words."""


def printable(text: str, keep: str = "") -> str:
    """Return `text` with every character that is not printable, except those in `keep`, as a Python escape.

    Control characters, ANSI sequences, bidirectional overrides and undecodable bytes (lone surrogates) become visible.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


def one_line(text: str, limit: int = 60) -> str:
    """Return `text` on one line, printable, cut to `limit` characters."""
    flat = printable(" ".join(text.split()))
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."


def count(number: int, noun: str) -> str:
    """Return the number with its noun, as in `1 state` and `1,024 states`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as spans number them, without their ends; a text without any is one empty line."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def json_mistake(error: Exception) -> str:
    """Return what is wrong with a text that is no JSON, by what reading it raised, in words that are not Python's."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    said: str = getattr(error, "msg", "")
    if not said:
        return "a number is too long"
    return next((what for begin, what in _JSON_MISTAKES.items() if said.startswith(begin)), "it is not well-formed")


def width_of(text: str) -> int:
    """Return how many places `text` takes on a terminal: wide characters take two, those that join the one before none."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(c) in "WF" else 0 if combining(c) else 1 for c in text)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return `text` with spaces up to `width` places of a terminal."""
    space = " " * (width - width_of(text))
    return f"{space}{text}" if right else f"{text}{space}"


def filled(text: str, width: int, indent: str = "", more: str = "") -> list[str]:
    """Return a paragraph as lines of at most `width` characters, broken between words only: a longer word stays whole.

    `indent` is before every line, `more` before every line but the first as well.
    """
    return textwrap.wrap(
        text,
        max(width, len(indent + more) + 1),
        initial_indent=indent,
        subsequent_indent=indent + more,
        break_long_words=False,
        break_on_hyphens=False,
    )


def sha256(text: str) -> str:
    """Return the SHA-256 digest of `text`, in hexadecimal."""
    import hashlib  # noqa: PLC0415 - slow, and few texts are told by it

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def free_name(plain: str, taken: set[str]) -> str:
    """Return a name that is not taken, `plain` or that with a number behind it; from then on it is."""
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return name
