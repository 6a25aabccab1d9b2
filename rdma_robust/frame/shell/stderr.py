"""Messages on standard error. Imports nothing slow, nothing that can itself be what is broken."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rdma_robust.files import LARGEST, read_regular
from rdma_robust.frame.shell.colour import coloured
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.errors import Diagnostic, Span

REPORT_IT = (
    "This is a defect of rdma-robust, not of the program. Please report it with the program and the command line; "
    "RDMA_ROBUST_DEBUG=1 shows the traceback."
)


def warn(text: str) -> None:
    """Print `text` on standard error."""
    if sys.stderr is not None:
        print(coloured(text, sys.stderr), file=sys.stderr, flush=True)


def line_elsewhere(span: Span) -> str:
    """Return the line at a place of a further file of a program, such as a header; '' if it cannot be read."""
    try:
        lines = read_regular(span.file, LARGEST).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return lines[span.line - 1] if span.line <= len(lines) else ""


def warning_texts(found: Iterable[Diagnostic], file: str, text: str) -> tuple[str, ...]:
    """Return what to print for warnings about the text of a file."""
    return tuple(printable(each.render(file, text, line_elsewhere), "\n") for each in found)


def warn_of(found: Iterable[Diagnostic], file: str, text: str) -> None:
    """Print warnings about the text of a file."""
    for each in warning_texts(found, file, text):
        warn(each)


def no_certificate(name: str, why: str) -> str:
    """Return what to print where the certificate of an answer is wanted and cannot be had."""
    return f"{printable(name)}: warning: no certificate: {printable(why)} [RR006]"


def error_line(text: str, code: str) -> str:
    """Return what to print for an error that is at no place of a program."""
    return f"error: {printable(text)} [{code}]"


def death_message(name: str, why: str) -> str:
    """Return what to print where the process that worked for `name` died, and why, as far as that is known."""
    return f"{printable(name)}: internal error: {printable(why)} [RR004]\n{REPORT_IT}"


def internal_message(reason: str) -> str:
    """Return what to print for an internal error; call it while the exception is handled."""
    trace = traceback.format_exc() if os.environ.get("RDMA_ROBUST_DEBUG") == "1" else ""
    return f"{printable(trace, chr(10))}internal error: {printable(reason)} [RR004]\n{REPORT_IT}"
