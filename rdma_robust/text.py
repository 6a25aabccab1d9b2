"""Text for people: what comes from outside (file names, programs) made harmless for a terminal, numbers with their nouns."""

from __future__ import annotations


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
