"""Symbols of an alphabet as values and variables of a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdma_robust.language.syntax.formatter import format_source

INDENT = "  "
EMPTY = 0
"""The value of a word of memory that holds no symbol."""


def alphabet(words: Iterable[str]) -> tuple[str, ...]:
    """Return the letters of `words`, each once, sorted; the value of a letter is its place, counted from 1."""
    return tuple(sorted({letter for word in words for letter in word}))


def symbol_variable(letter: str) -> str:
    """Return the name of the read-only variable that holds a letter: `letter_a`, or `letter_u2192` for others."""
    return f"letter_{letter}" if letter.isascii() and letter.isalnum() else f"letter_u{ord(letter):04x}"


def nested_lines(head: str, body: Sequence[str]) -> list[str]:
    """Return a block of the language with its body indented."""
    return [f"{head} {{", *(INDENT + line for line in body), "}"]


def comment_lines(lines: Iterable[str]) -> list[str]:
    """Return lines as comments."""
    return [f"// {line}".rstrip() for line in lines]


def laid_out(lines: Iterable[str]) -> str:
    """Return the lines of a program in the language's one layout."""
    return format_source("".join(f"{line}\n" for line in lines), "<generated>")
