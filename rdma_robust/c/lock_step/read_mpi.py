"""The way from the text of a C file with MPI messages to the program of messages that it is, for a number of processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from rdma_robust.c.front.c_comments import c_comments
from rdma_robust.c.front.c_units import CUnits, read_units
from rdma_robust.c.lock_step.lock_step import LockStepResult, evaluate_in_lock_step
from rdma_robust.c.read_c import TextPlaces
from rdma_robust.diagnose import listing
from rdma_robust.errors import Diagnostic, ProgramError, Span, UsageError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import LocalFinding, MessageClaim, MessageProgram
from rdma_robust.messages.language.messages_text import program_text
from rdma_robust.value_ranges import file_of

_NO_NUMBER: Final = "how many processes run it? -n 4, or -n 2..4, or a comment in it: /* rdma-robust: options -n 4 */"


def read_mpi(text: str, file: str) -> MessageProgram:
    """Return the program of messages that the C in `text` is; `file` is its name for messages.

    Statements have the places of their calls in the C. What is wrong with a call by itself is a claim that is violated there
    and that `MessageProgram.found` tells. Raises ProgramError with all that is wrong or not understood, and UsageError.
    """
    path, places = file_of(file), TextPlaces(text, file_of(file))
    comments = c_comments(text, path, of_messages=True)
    try:
        units = read_units(path, comments.options, text)
    except ProgramError as error:
        raise ProgramError(file, text, places.all_of(error.diagnostics, lambda span: span)) from None
    _check(units, file)
    if comments.options.processes is None:
        raise UsageError(_NO_NUMBER)
    evaluated = evaluate_in_lock_step(units, comments.options.processes, places.of)
    if evaluated.refused and not evaluated.found:
        raise ProgramError(file, text, places.all_of(evaluated.refused, lambda span: span))
    return MessageProgram(
        PurePath(path).stem,
        file,
        text,
        evaluated.processes,
        evaluated.ports,
        tuple(claim for line, span in comments.lines for claim in _claims(line, span, file, text)),
        tuple(replace(each, severity="warning") for each in places.all_of(evaluated.refused, lambda span: span)),
        found=_findings(evaluated),
        left_out=", ".join(dict.fromkeys(each.message for each in evaluated.refused)),
    )


def message_text(text: str, file: str) -> str:
    """Return the program in the language of messages, `.mp`, that the C in `text` is. Raises ProgramError and UsageError."""
    program = read_mpi(text, file)
    if program.left_out:
        errors = tuple(replace(each, severity="error") for each in program.warnings)
        raise ProgramError(file, text, errors)
    return program_text(program)


def _check(units: CUnits, file: str) -> None:
    """Raises UsageError for C without MPI."""
    if "MPI" not in units.libraries:
        raise UsageError(f"{file} does not include mpi.h; `rdma-robust check` decides C with one-sided operations")


def _claims(line: str, span: Span, file: str, text: str) -> Sequence[MessageClaim]:
    """Return the claims of a line of the language. Raises ProgramError."""
    try:
        claims = load_messages(f"proc P {{ }}\n{line}\n", "claim.mp").claims
    except ProgramError as error:
        message = error.diagnostics[0].message
        found = Diagnostic("error", "RR848", message, span, hint="/* rdma-robust: expect holds, no deadlock */")
        raise ProgramError(file, text, (found,)) from None
    return [replace(each, span=span) for each in claims]


def _findings(evaluated: LockStepResult) -> dict[Span, tuple[LocalFinding, ...]]:
    return {
        span: tuple(LocalFinding(kind, f"{text} ({_ranks(ranks)})", tuple(ranks)) for (kind, text), ranks in kinds.items())
        for span, kinds in evaluated.found.items()
    }


def _ranks(ranks: Sequence[int]) -> str:
    return listing([f"P{each}" for each in sorted(ranks)], "and")
