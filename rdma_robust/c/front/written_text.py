"""The text of what libclang does not tell of: parts of a `for`, inline assembly, ranges of designators; in macros too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from rdma_robust.c.front.libclang import Cursor

_MOST: Final = 4000
_DEEPEST: Final = 8
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_CALL: Final = re.compile(r"[A-Za-z_]\w*+\s*+(?P<open>\()")
_PIECES: Final = re.compile(r"""[()]|"(?:\\.|[^"\\])*+"?|'(?:\\.|[^'\\])*+'?""", re.DOTALL)


@cache
def _bytes_of(file: str) -> bytes:
    return Path(file).read_bytes()


def _text(file: str, offset: int, most: int = _MOST) -> str:
    """Return the text of a file from an offset on, '' where it cannot be read."""
    try:
        return _bytes_of(file)[offset : offset + most].decode("utf-8", "replace")
    except OSError:
        return ""


def use_texts(texts: Mapping[str, str]) -> None:
    """Forget the texts of files, which may have changed; of some the text is given, for it may not be saved."""
    _bytes_of.cache_clear()
    _definitions.cache_clear()
    _unsaved.clear()
    _unsaved.update({file: text.encode("utf-8", "surrogateescape") for file, text in texts.items()})


_unsaved: dict[str, bytes] = {}


def text_of_cursor(cursor: Cursor) -> str:
    """Return the text from the first character of a cursor on; of what a macro made, from its use on."""
    start = cursor.extent.start
    if start.file is None:
        return ""
    file = str(start.file.name)
    if file in _unsaved:
        return _unsaved[file][start.offset : start.offset + _MOST].decode("utf-8", "replace")
    return _text(file, start.offset)


def call_at(file: str, line: int, column: int) -> str:
    """Return the call at a place, line and column in bytes from 1, on one line; '' where none is seen that ends."""
    try:
        raw = _unsaved[file] if file in _unsaved else _bytes_of(file)
    except OSError:
        return ""
    start = 0
    for _ in range(line - 1):
        start = raw.find(b"\n", start) + 1
    text = raw[start + column - 1 : start + column - 1 + _MOST].decode("utf-8", "replace")
    found, depth = _CALL.match(text), 0
    for piece in () if found is None else _PIECES.finditer(text, found.start("open")):
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        if depth == 0:
            return " ".join(text[: piece.end()].split())
    return ""


@cache
def _definitions(unit: Any) -> dict[str, str]:
    """Return the texts of the macros of a translation unit, of several with one name the last."""
    found = {}
    for each in unit.cursor.get_children():
        if each.kind.name == "MACRO_DEFINITION" and each.location.file is not None:
            start, end = each.extent.start.offset, each.extent.end.offset
            found[str(each.spelling)] = text_of_cursor(each)[: end - start]
    return found


def text_from_word(cursor: Cursor, word: re.Pattern[str]) -> str:
    """Return the text of a cursor from `word` on, with which it begins, or with which a macro begins it that is used there.

    '' where that is not seen: where the macros have the word several times.
    """
    text = text_of_cursor(cursor)
    if word.match(text):
        return text
    used = _WORD.match(text)
    macros = _definitions(cursor.translation_unit)
    todo, seen, found = [used[0] if used else ""], set[str](), list[str]()
    for _ in range(_DEEPEST):
        names = [name for name in dict.fromkeys(todo) if name in macros and name not in seen]
        seen.update(names)
        todo = []
        for name in names:
            body = macros[name][len(name) :]
            found += [body[each.start() :] for each in word.finditer(body)]
            todo += _WORD.findall(body)
    return found[0] if len(found) == 1 else ""
