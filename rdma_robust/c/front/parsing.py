"""C files parsed by libclang, with our headers around those of the system; what it calls an error is said as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from rdma_robust.c.code import SourcePlace
from rdma_robust.c.front.libclang import index_library
from rdma_robust.c.libraries import mpi, openshmem
from rdma_robust.errors import Diagnostic, ProgramError, Span
from rdma_robust.processes import Crew, Gone, Pipe

_HEADERS: Final = Path(__file__).parent / "headers"
_OURS: Final = _HEADERS / "first"
_FALLBACK: Final = _HEADERS / "fallback"
_WARNINGS: Final = (
    "implicit-function-declaration",
    "implicit-int",
    "int-conversion",
    "incompatible-function-pointer-types",
    "return-type",
)
"""What newer compilers call an error, and real code does."""

_ERROR: Final = 3
_MACROS: Final = 1
"""The option that keeps definitions of macros."""
_MADE: Final = {"shmem.h": openshmem.shmem_header, "mpi.h": mpi.mpi_header}
"""Headers of ours that are made from tables."""
_LONG: Final = 3_000
_BRANCHES: Final = 1_000
"""Texts with so many bytes between `;`, `{`, `}` and `,`, or so many `else`, may be nested so deeply that libclang uses up
its stack: it counts brackets only."""


def arguments_of(more: Sequence[str]) -> list[str]:
    """Return the options of libclang: ours first, so that others win, and our headers where the system has none."""
    return [
        "-xc",
        "-std=gnu11",
        "--target=x86_64-linux-gnu",
        "-fopenmp",
        "-U_OPENMP",
        "-w",
        "-ferror-limit=0",
        "-D__RDMA_ROBUST__=1",
        "-D_GNU_SOURCE",
        *(f"-Wno-error={each}" for each in _WARNINGS),
        f"-I{_OURS}",
        "-include",
        str(_OURS / "rdma_robust_builtins.h"),
        "-idirafter",
        str(_FALLBACK),
        *more,
    ]


def parse_c(file: str, texts: Mapping[str, str], more: Sequence[str]) -> Any:
    """Return the translation unit of a file. `texts` are those of files, by their names, that are not what is saved.

    Raises ProgramError if its text is nested so deeply that libclang dies of it.
    """
    library = index_library()
    unsaved = [*((str(_OURS / name), made()) for name, made in _MADE.items()), *texts.items()]
    parse = partial(library.Index.create().parse, file, arguments_of(more), unsaved, _MACROS)
    text = texts[file].encode() if file in texts else Path(file).read_bytes()
    longest = max(map(len, re.split(rb"[;{},]", text)))
    if (longest >= _LONG or text.count(b"else") > _BRANCHES) and not _survived(parse):
        what = "the C is nested too deeply for libclang, which dies of it: write shorter expressions, or more functions"
        raise ProgramError(
            file, text.decode(errors="replace"), (Diagnostic("error", "RR810", what, Span(1, 1, 1, 2, 0, 0, file)),)
        )
    return parse()


def _survived(parse: Callable[[], Any]) -> bool:
    """Return whether a process of its own survives a parse, and asking for every type."""

    def attempt(connection: Pipe) -> None:
        for each in parse().cursor.walk_preorder():
            str(each.type.spelling)
        connection.send(None)

    crew = Crew()
    try:
        crew.start(attempt).receive()
    except Gone as gone:
        return gone.exit_code is not None and gone.exit_code >= 0
    finally:
        crew.close()
    return True


def errors_of(unit: Any) -> list[Diagnostic]:
    """Return the errors of a translation unit, with what libclang adds to them as their origins."""
    return [_diagnostic(each) for each in unit.diagnostics if each.severity >= _ERROR]


def _diagnostic(found: Any) -> Diagnostic:
    origin = None
    hints = []
    for note in reversed(list(found.children)):
        if note.spelling.startswith("expanded from macro") and note.location.file is not None:
            origin = _span(note.location, origin)
        else:
            hints.append(str(note.spelling))
    return Diagnostic("error", "RR810", str(found.spelling), _span(found.location, origin), hint="; ".join(hints[::-1]))


def _span(location: Any, origin: Span | None = None) -> Span:
    file = "" if location.file is None else str(location.file.name)
    line, column = location.line or 1, location.column or 1
    return Span(line, column, line, column + 1, 0, 0, file, origin)


def place_span(place: SourcePlace, origin: Span | None = None) -> Span:
    """Return a place of the C as a span."""
    end_line, end_column = (place.end_line, place.end_column) if place.end_line else (place.line, place.column + 1)
    return Span(place.line, place.column, end_line, end_column, 0, 0, place.file, origin)


def is_of_system(file: str) -> bool:
    """Return whether a file is a header of ours or of the system."""
    return file.startswith((str(_HEADERS), "/usr/include", "/usr/lib"))
