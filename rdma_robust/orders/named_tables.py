"""Order tables that are asked for by a name, `FILE.toml` or `fi(FLAG, ..)`, and those that a program names.

In its `hardware` line a program names a table by `"FILE"`, relative to the program, or by `fi(FLAG, ..)`.
A program may be somebody else's, and name any file. So only regular files with the suffix of tables are read, up to
:data:`MOST` bytes, and of a file with mistakes only their places and kinds are told, nothing of what stands there.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from typing import Final

from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, RdmaRobustError, UsageError
from rdma_robust.files import LARGEST, read_regular
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.fi_flags import fi_order
from rdma_robust.orders.known_orders import order_of_file
from rdma_robust.orders.order_reader import Named
from rdma_robust.value_ranges import file_of

SUFFIX: Final = ".toml"
MOST: Final = 1 << 18
"""Bytes of a table at most; those of the package have four thousand."""
_DEEPEST: Final = 8
"""Files of tables that are based on one another, at most."""

_NAMED: Final = re.compile(r'\border\s*"([^"\n]*)"')

_MISTAKES: Final = {
    "RR821": "it is no TOML",
    "RR822": "an unknown word, or no name",
    "RR823": "an entry of another kind",
    "RR824": "it is based on no order table",
    "RR825": "a cell or a rule that cannot be this",
    "RR826": "no cell that a table can change",
}
"""What is said of a mistake in a table: nothing of what stands there."""


class NoTableError(RdmaRobustError):
    """A program names no table; the text says why, and `hint` what to do."""

    def __init__(self, said: str, hint: str = "") -> None:
        super().__init__(said)
        self.hint = hint


def order_asked(written: str) -> str:
    """Return the order that a name, FILE.toml or `fi(FLAG, ..)` stands for, as somebody asks for it who runs the tool.

    Raises UsageError for what is none, and ProgramError with what is wrong with a file.
    """
    if written in SHIPPED:
        return written
    if written.startswith("fi("):
        return fi_order(written)
    if not written.endswith(SUFFIX):
        raise UsageError(f"no order is called {written!r}; there is {', '.join(SHIPPED)}, FILE.toml, or fi(FLAG, ...)")
    try:
        return order_of_file(read_regular(written, LARGEST).decode("utf-8-sig"), written, _base_beside(written))
    except UnicodeDecodeError:
        raise UsageError(f"{written}: it is no UTF-8") from None
    except OSError as error:
        raise UsageError(f"{written}: {error.strerror}") from None


def _base_beside(file: str, below: int = 0) -> Named:
    """Return what reads the table on which that of a file is based, which is a name, or a file that is named from its
    folder; `below` it are so many others."""

    def based(name: str) -> str:
        if not name.endswith(SUFFIX):
            return name
        if below == _DEEPEST:
            raise NoTableError(f"{_DEEPEST} files of order tables are based on one another, and none on a table of the tool")
        return order_named(f'"{name}"', file, below + 1)

    return based


def order_named(written: str, program: str, below: int = 0) -> str:
    """Return the order that `"FILE"` or `fi(FLAG, ..)` in the program of a file stands for, or behind `based-on` of a table
    on which so many others are based.

    Raises NoTableError, and UsageError for flags that are none.
    """
    if not written.startswith('"'):
        return fi_order(written)
    name = written.strip('"')
    if not name.endswith(SUFFIX) or os.path.isabs(name):
        raise NoTableError("an order table is a file *.toml, named from the folder of the program")
    try:
        return order_of_file(_text_of(name, program), name, _base_beside(table_path(name, program), below))
    except ProgramError as error:
        said = "; ".join(_mistakes(error.diagnostics))
        hint = f"`rdma-robust hardware check {table_path(name, program)}` says more"
        raise NoTableError(f"it is no order table: {said}", hint) from None


def _mistakes(found: tuple[Diagnostic, ...]) -> Iterator[str]:
    for each in found:
        where = "" if each.span == NO_SPAN else f"line {each.span.line}, column {each.span.column}: "
        yield f"{where}{_MISTAKES[each.code]} [{each.code}]"


def _text_of(name: str, program: str) -> str:
    try:
        data = read_regular(table_path(name, program), MOST + 1)
    except OSError as error:
        raise NoTableError(f"the table cannot be read: {error.strerror}") from None
    if len(data) > MOST:
        raise NoTableError(f"it is larger than {MOST >> 10} KiB, which no order table is")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise NoTableError("it is no text in UTF-8") from None


def table_path(name: str, program: str) -> str:
    """Return the file of a table that the program of a file, or of a stream, names."""
    return os.path.join(os.path.dirname(file_of(program)), name)


def moved(text: str, program: str, other: str) -> str:
    """Return the text of a program as that of another file, which names the same tables."""
    folder = os.path.dirname(file_of(other)) or os.curdir

    def named(found: re.Match[str]) -> str:
        name = os.path.relpath(table_path(found[1], program), folder)
        return found[0] if os.path.isabs(found[1]) else found[0].replace(f'"{found[1]}"', f'"{name}"')

    same = os.path.realpath(folder) == os.path.realpath(os.path.dirname(file_of(program)) or os.curdir)
    return text if same else _NAMED.sub(named, text)


def files_named(text: str, program: str) -> tuple[str, ...]:
    """Return the files of the tables that a text names, for who looks whether one has changed."""
    found = [table_path(name, program) for name in dict.fromkeys(_NAMED.findall(text)) if name.endswith(SUFFIX)]
    for path in found:
        found += [each for each in _bases_of(path) if each not in found]
    return tuple(found)


def _bases_of(path: str) -> list[str]:
    """Return the file on which the table of a file is based, if it is one; nothing of a file that cannot be read."""
    try:
        said = tomllib.loads(read_regular(path, MOST).decode("utf-8-sig")).get("based-on")
    except (OSError, ValueError, RecursionError):
        return []
    return [table_path(said, path)] if isinstance(said, str) and said.endswith(SUFFIX) else []
