"""Listings with a little colour: words, numbers, texts and comments told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from rdma_robust.language.flow.cfg import Program, Thread, steps
from rdma_robust.text import printable

Language = Literal["rdma", "spec", "json", "console"]
Kind = Literal["", "word", "number", "text", "comment"]

TOKEN: Final[Mapping[Language, str]] = {
    "rdma": r"(?P<comment>//.*)|(?P<number>\b[0-9]+\b)|(?P<word>\b[A-Za-z]+\b)",
    "spec": r"(?P<comment>#.*)|(?P<number>\b[0-9]+\b)|(?P<word>^\s*[a-z]+\s*$)",
    "json": r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\b[0-9][0-9.eE+-]*)|(?P<word>\b(?:true|false|null)\b)',
    "console": r"(?P<comment>^\$ )",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line as pieces of text, each with what it is; together they are the line."""

    number: int
    pieces: tuple[tuple[Kind, str], ...]


def listing(text: str, language: Language) -> tuple[Line, ...]:
    """Return the lines of `text`, printable, counted from 1; a line end at the end begins no further line."""
    lines = printable(text, "\n\t").removesuffix("\n").split("\n")
    return tuple(Line(number, tuple(_pieces(line, language))) for number, line in enumerate(lines, 1))


def thread_lines(program: Program, thread: Thread) -> tuple[Line, ...]:
    """Return the lines of the program that declare `thread`; none if the program has no text."""
    lines = listing(program.source, "rdma") if program.source else ()
    texts = ["".join(piece for _, piece in line.pieces) for line in lines]
    spans = [step.span for _, _, step in steps(thread)]
    head = re.compile(rf"\bthread\s+{re.escape(thread.name)}\b")
    first = next((n for n, text in enumerate(texts, 1) if head.search(text.partition("//")[0])), 0)
    first = first or min((span.line for span in spans), default=1)
    last = max((span.end_line for span in spans), default=first)
    while last < len(lines) and re.fullmatch(r"[\s}]*}[\s}]*", texts[last]):
        last += 1
    return lines[first - 1 : last]


@cache
def _keywords(language: Language) -> frozenset[str]:
    """Return the words of a language that are its own; empty if the pattern alone tells."""
    if language != "rdma":
        return frozenset()
    from rdma_robust.language.syntax.grammar import load_grammar  # noqa: PLC0415 - loads the parser generator

    return frozenset(load_grammar().keywords.values())


def _pieces(line: str, language: Language) -> Iterator[tuple[Kind, str]]:
    at = 0
    own = _keywords(language)
    for found in re.finditer(TOKEN[language], line):
        kind: Kind = found.lastgroup  # type: ignore[assignment]
        if kind == "word" and own and found[0] not in own:
            continue
        if found.start() > at:
            yield "", line[at : found.start()]
        yield kind, found[0]
        at = found.end()
    if at < len(line) or not line:
        yield "", line[at:]
