"""The way from the text of a C file to the program that it is, as `language/load.py` asks for it.

All that a C file is read with stands in its text: options of the command line became a comment at its end. So whatever is
made or kept of a text, a cache or a certificate, is about the file as it was read.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from rdma_robust.build import with_moved_spans
from rdma_robust.c.automaton import CProgram, Remark
from rdma_robust.c.evaluate.evaluated_c import evaluate_units
from rdma_robust.c.evaluate.round_facts import EvaluationOptions
from rdma_robust.c.front.c_comments import FLAGS, OPTIONS, CComments, c_comments
from rdma_robust.c.front.c_options import COMMANDS
from rdma_robust.c.front.c_units import CUnits, parsed_units, read_units
from rdma_robust.c.front.parsing import place_span
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Span, UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.suppressions import MARK, Suppressions
from rdma_robust.value_ranges import file_of

_HARDWARE: Final = "hardware "
_OF_VERBS: Final = frozenset({"RR707"})
"""Warnings about what the libraries of OpenSHMEM and MPI see to themselves."""
_DEFINED_SETTING: Final = re.compile(r"(?:hardware )?(send depth|rnr)=(\w+)")


def read_c(text: str, file: str, changed: Mapping[str, str] | None = None) -> tuple[Program, Suppressions]:
    """Return the program that the C in `text` is, with all its warnings, and the comments that ask for some not to be shown;
    `file` is its name for messages, and where its headers and further files are looked for. Of these `changed` has texts, by
    their names, that are not what is saved.

    Places are those of the C: the innermost, with the calls outwards as what they were expanded from.
    Raises ProgramError with all that is wrong or not understood, and UsageError without libclang.
    """
    path, moved = file_of(file), TextPlaces(text, file_of(file))
    comments = c_comments(text, path)
    evaluated, lines, units = _evaluated(text, file, comments, moved, changed=changed)
    try:
        program = evaluated_program(evaluated, path, lines)
    except ProgramError as error:
        raise ProgramError(file, text, moved.all_of(error.diagnostics, lambda span: span.origin or NO_SPAN)) from None
    program = with_moved_spans(program, lambda span: moved.of(span.origin or NO_SPAN))
    remarks = tuple(_warning(each, moved.of) for each in evaluated.remarks)
    own = (each for each in program.warnings if each.code not in _OF_VERBS or not units.libraries)
    warnings = (*own, *remarks, *comments.ignored.wrong)
    return replace(program, name=PurePath(path).stem, file=file, source=text, warnings=warnings), comments.ignored


def rdma_text(text: str, file: str, *, skeleton: bool = False) -> str:
    """Return the text of the program that the C in `text` is; raises as :func:`read_c`, and UsageError where the language
    has no statement for what a thread does. A `skeleton` has `skip` where something is not understood, and why."""
    from rdma_robust.c.text.program_text import automata_text  # noqa: PLC0415 - import alone needs it

    path, refused = file_of(file), list[Diagnostic]()
    comments = c_comments(text, path)
    evaluated, lines, _ = _evaluated(text, file, comments, TextPlaces(text, path), refused if skeleton else None)
    if not skeleton:
        return automata_text(evaluated, lines)
    made = automata_text(evaluated, [(line, span) for line, span in lines if not line.startswith("expect")])
    todo = [
        f"// TODO {each.span.file}:{each.span.line}:{each.span.column}: {each.message} [{each.code}]" for each in refused
    ]
    return "".join(f"{line}\n" for line in dict.fromkeys(todo)) + re.sub(r"(\n *skip +// )", r"\1TODO ", made)


def _evaluated(
    text: str,
    file: str,
    comments: CComments,
    moved: TextPlaces,
    refused: list[Diagnostic] | None = None,
    *,
    changed: Mapping[str, str] | None = None,
) -> tuple[CProgram, list[tuple[str, Span]], CUnits]:
    """Return the evaluated program, further lines of the language with their places, and the units. What is not understood
    is an error, or goes to `refused`."""
    path = file_of(file)
    try:
        units = read_units(path, comments.options, text, changed)
        options = comments.options
        asked = EvaluationOptions(
            is_of_standard=options.about != "queue pairs",
            is_about_races=options.about == "races",
            with_errors=options.with_errors,
        )
        evaluated = evaluate_units(units, asked, refused=refused)
    except ProgramError as error:
        raise ProgramError(file, text, moved.all_of(error.diagnostics, lambda span: span)) from None
    return _with_hardware(evaluated, comments), _lines(units, comments), units


def with_options(text: str, define: Sequence[str], file: str) -> str:
    """Return the text of a C file with a comment at its end that has the options of a command line.

    `define` are definitions, `NAME=VALUE`, and options such as `-I=FOLDER`, whose paths are from the current folder.
    Raises UsageError for what no comment can say.
    """
    words, lines = list[str](), list[str]()
    for each in define:
        option, _, value = each.partition("=")
        if (setting := _DEFINED_SETTING.fullmatch(each)) is not None:
            lines.append(f"hardware {setting[1]} {setting[2]}")
        elif not each.startswith("-"):
            words += ["-D", each]
        elif option in ("-I", "--with", "--compile-commands"):
            words += [option, os.path.relpath(value, os.path.dirname(file) or ".")]
        else:
            words += [option] if option in FLAGS else [option, value]
    if words:
        lines.insert(0, f"{OPTIONS} {shlex.join(words)}")
    if any("*/" in line or "\n" in line for line in lines):
        raise UsageError("an option of C files can have no `*/` and no line end")
    return text + "".join(f"\n/* {MARK} {line} */" for line in lines) + "\n" * bool(lines)


def units_of(text: str, file: str) -> CUnits:
    """Return the units of the C in `text`. Raises ProgramError and UsageError as :func:`read_c`."""
    path = file_of(file)
    return read_units(path, c_comments(text, path).options, text)


def files_of(text: str, file: str) -> Sequence[str]:
    """Return the further files that a C file is made of: headers, but those of the system, and further units. They are
    those that were found where something is wrong with it too."""
    path, commands = file_of(file), list[str]()
    try:
        options = c_comments(text, path).options
        commands += [os.path.join(options.commands, COMMANDS)] if options.commands else []
        units, _ = parsed_units(path, options, text)
    except (ProgramError, UsageError):
        return commands
    own = os.path.realpath(path)
    return [*commands, *(each for each in units.files() if os.path.realpath(each) != own)]


def _lines(units: CUnits, comments: CComments) -> list[tuple[str, Span]]:
    """Return the lines of the language that the C says, with their places."""
    said = [(f"expect {text}", place_span(place)) for text, place in units.expected]
    return [*said, *comments.lines]


def _with_hardware(program: CProgram, comments: CComments) -> CProgram:
    """Return a program without the settings of its hardware that a comment says otherwise."""
    others = [line.removeprefix(_HARDWARE) for line, _ in comments.lines if line.startswith(_HARDWARE)]
    if not others:
        return program
    names = {setting.strip().rpartition(" ")[0] for other in others for setting in other.split(",")}
    head = list[str]()
    for line in program.head:
        settings = line.removeprefix(_HARDWARE).split(", ")
        left = [each for each in settings if each.rpartition(" ")[0] not in names]
        if not line.startswith(_HARDWARE):
            head.append(line)
        elif left:
            head.append(_HARDWARE + ", ".join(left))
    return replace(program, head=tuple(head))


def _warning(each: Remark, place: Callable[[Span], Span]) -> Diagnostic:
    span = NO_SPAN if each.place is None else place(place_span(each.place))
    return Diagnostic("warning", each.code, each.message, span, hint=each.hint)


class TextPlaces:
    """Spans of the text of a file from those of libclang, which counts bytes; those in other files stay."""

    def __init__(self, text: str, file: str) -> None:
        self.file, self.lines = file, text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def all_of(self, found: Iterable[Diagnostic], move: Callable[[Span], Span]) -> tuple[Diagnostic, ...]:
        """Return messages at places of the text, which are those that `move` makes of theirs."""
        return tuple(replace(each, span=self.of(move(each.span)), edits=()) for each in found)

    def of(self, span: Span) -> Span:
        """Return a span, with what it was expanded from, as one of the text."""
        origin = None if span.origin is None else self.of(span.origin)
        if span == NO_SPAN or span.file != self.file or span.line > len(self.lines):
            return replace(span, origin=origin)
        column, end_column = self._column(span.line, span.column), self._column(span.end_line, span.end_column)
        start, end = self._offset(span.line, column), self._offset(span.end_line, end_column)
        return Span(span.line, column, span.end_line, end_column, start, max(start, end), "", origin)

    def _column(self, line: int, column: int) -> int:
        text = self.lines[min(line, len(self.lines)) - 1]
        if text.isascii():
            return column
        return len(text.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "replace")) + 1

    def _offset(self, line: int, column: int) -> int:
        return min(self.starts[min(line, len(self.lines)) - 1] + column - 1, self.starts[-1])
