"""Comments of C in which rdma-robust is told something: options to read a file with, what is expected, what is ignored."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lark import Token

from rdma_robust.build_lines import whole_line
from rdma_robust.c.front.c_options import COptions
from rdma_robust.diagnose import Reporter, did_you_mean, quote
from rdma_robust.errors import Span, UsageError
from rdma_robust.language.suppressions import MARK, Suppressions, read_suppressions
from rdma_robust.language.suppressions import WORDS as IGNORING

LINES: Final = ("expect", "outcome", "needs", "hardware")
"""Words of comments that are lines of the language: `rdma-robust: expect robust`."""

OPTIONS: Final = "options"
VALUED: Final = ("-I", "-D", "-U", "-include", "-std", "--with", "--compile-commands", "-n", "--about", "--arg")
"""The options that a C file is read with: of the command line, and of a comment in the file."""

FLAGS: Final = ("--wc-errors",)
"""Those without a value."""

ABOUT: Final = ("standard", "races", "queue pairs")
"""The questions about a program of OpenSHMEM or MPI."""

_PIECES: Final = re.compile(
    r"(?P<comment>//(?:\\\n|[^\n])*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))"
    r"""|(?P<code>"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?|[^\s"'/]++|/)""",
    re.DOTALL,
)
_SAID: Final = re.compile(r"(?://+|/\*+)\s*+rdma-robust:\s*+(?P<word>[\w-]*+)\s*+(?P<rest>.*)", re.DOTALL)


_NO_OPTIONS: Final = COptions()
_NOTHING_IGNORED: Final = Suppressions()
MOST_PROCESSES: Final = 64


@dataclass(frozen=True, slots=True)
class CComments:
    """All that the comments of a C file say: options, lines of the language with their places, and what is ignored."""

    options: COptions = _NO_OPTIONS
    lines: tuple[tuple[str, Span], ...] = ()
    ignored: Suppressions = _NOTHING_IGNORED


def c_comments(text: str, file: str, *, of_messages: bool = False) -> CComments:
    """Return what the comments of `text`, that of `file`, tell. Raises ProgramError for options that are none (RR848). Read
    as a program `of_messages`, its lines are those of that language, and are not looked at here."""
    if MARK not in text:
        return CComments()
    report = Reporter(file, text)
    options, lines, others = COptions(), list[tuple[str, Span]](), list[Token]()
    code: list[Token] = []
    newlines = [-1, *(each.start() for each in re.finditer("\n", text))]
    line = 1
    for piece in _PIECES.finditer(text):
        while line < len(newlines) and newlines[line] < piece.start():
            line += 1
        token = _token(piece, line, newlines)
        said = _SAID.match(token) if piece.lastgroup == "comment" else None
        if piece.lastgroup == "code":
            code.append(token)
        elif said is not None and said["word"] == OPTIONS:
            options = _with_options(options, _rest(said), os.path.dirname(file), _span(token), report)
        elif said is not None and said["word"] in LINES:
            line_text = f"{said['word']} {_rest(said)}"
            if of_messages:
                lines.append((line_text, _span(token)))
            else:
                _add_line(lines, line_text, _span(token), report)
        elif said is not None:
            others.append(token)
    report.raise_errors()
    return CComments(options, tuple(lines), read_suppressions(others, code, text, (*IGNORING, *LINES, OPTIONS)))


def comments_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each comment of a text of C begins and ends."""
    return (piece.span() for piece in _PIECES.finditer(text) if piece.lastgroup == "comment")


def _token(piece: re.Match[str], line: int, newlines: Sequence[int]) -> Token:
    start, end = piece.span()
    column = start - newlines[line - 1]
    more = piece[0].count("\n")
    last = end - newlines[line - 1 + more]
    return Token(str(piece.lastgroup).upper(), piece[0], start, line, column, line + more, last, end)


def _span(token: Token) -> Span:
    assert token.line and token.column and token.end_line and token.end_column
    return Span(token.line, token.column, token.end_line, token.end_column, token.start_pos or 0, token.end_pos or 0)


def _rest(said: re.Match[str]) -> str:
    return " ".join(said["rest"].removesuffix("*/").split())


def _add_line(lines: list[tuple[str, Span]], line: str, span: Span, report: Reporter) -> None:
    try:
        lines.append((whole_line(line), span))
    except UsageError as error:
        report.error("RR848", span, str(error), hint="/* rdma-robust: expect robust */")


def _with_options(known: COptions, words: str, folder: str, span: Span, report: Reporter) -> COptions:
    """Return options with those of a comment; paths are from the folder of the file."""
    try:
        return with_words(known, shlex.split(words), folder)
    except (UsageError, ValueError) as error:
        report.error("RR848", span, str(error), hint="/* rdma-robust: options -I include -D N=2 --with other.c */")
        return known


def with_words(known: COptions, words: Sequence[str], folder: str = "") -> COptions:
    """Return options with those that words of a command line say, whose paths are from `folder`. Raises UsageError."""
    made, left, every = known, list(words), (*VALUED, *FLAGS)
    while left:
        word = left.pop(0)
        if word in FLAGS:
            made = replace(made, with_errors=True)
            continue
        option = next(
            (each for each in VALUED if word == each or word.startswith(f"{each}=" if len(each) > 2 else each)), ""
        )
        if not option:
            raise UsageError(f"{quote(word)} is no option of C files; {did_you_mean(word, every) or ', '.join(every)}")
        value = word[len(option) :].removeprefix("=") or (left.pop(0) if left else "")
        if not value:
            raise UsageError(f"{option} needs a value")
        made = _with_option(made, option, value, folder)
    return made


def _with_option(known: COptions, option: str, value: str, folder: str) -> COptions:
    path = os.path.normpath(os.path.join(folder, value))
    if option == "-I":
        return replace(known, folders=(*known.folders, path))
    if option == "-D":
        return replace(known, definitions=(*known.definitions, value))
    if option == "-U":
        return replace(known, undefined=(*known.undefined, value))
    if option == "-include":
        return replace(known, headers=(*known.headers, path if os.path.exists(path) else value))
    if option == "-std":
        return replace(known, standard=value)
    if option == "--with":
        return replace(known, more_files=(*known.more_files, path))
    if option == "--compile-commands":
        return replace(known, commands=path)
    if option == "--arg":
        return replace(known, program_arguments=(*known.program_arguments, value))
    if option == "--about":
        if value not in ABOUT:
            raise UsageError(f"--about takes {' or '.join(map(quote, ABOUT))}, not {quote(value)}")
        return replace(known, about=value)
    if not value.isdecimal() or not value.isascii() or not 1 <= int(value) <= MOST_PROCESSES:
        raise UsageError(f"-n takes a number of processes from 1 to {MOST_PROCESSES}, and {quote(value)} is none")
    return replace(known, processes=int(value))
