"""Compiling for the page: this runs in the Python of the page, in Node, as bytecode is good for one version of Python only.

In: zip archives of sources and data. Out: the same with bytecode in place of the sources, the same bytes each time. Python
reads it as it is, without a source to compare it with. It has no line numbers: nobody sees tracebacks of the page, and with
them it would be half as large again.
"""

from __future__ import annotations

import gzip
import json
import marshal
import zipfile
from collections.abc import Iterable, Iterator
from importlib.util import MAGIC_NUMBER, source_hash
from types import CodeType
from typing import Final

WHEN: Final = (1980, 1, 1, 0, 0, 0)
_UNCHECKED: Final = (1).to_bytes(4, "little")  # PEP 552: by the hash of the source, and no source is asked for


def compiled(archive: str) -> Iterator[tuple[str, bytes]]:
    """Return the files of an archive by name, sources as bytecode. Raises SyntaxError for what is no Python."""
    with zipfile.ZipFile(archive) as sources:
        for name in sorted(each for each in sources.namelist() if not each.endswith("/")):
            text = sources.read(name)
            yield (f"{name}c", bytecode(name, text)) if name.endswith(".py") else (name, text)


def bytecode(name: str, source: bytes) -> bytes:
    """Return a module as a file of bytecode."""
    code = _without_lines(compile(source, name, "exec", dont_inherit=True))
    return MAGIC_NUMBER + _UNCHECKED + source_hash(source) + marshal.dumps(code)


def _without_lines(code: CodeType) -> CodeType:
    inner = (_without_lines(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_linetable=b"", co_consts=tuple(inner))


def packed(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return files as one: a line of JSON with names and sizes, then what they have; compressed by gzip."""
    given = list(files)
    sizes = json.dumps([(name, len(data)) for name, data in given], separators=(",", ":")).encode()
    return gzip.compress(b"\n".join((sizes, b"".join(data for _, data in given))), 9, mtime=0)


def write_zip(path: str, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files as a zip archive; the same files give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name, WHEN), data, zipfile.ZIP_DEFLATED, 9)
