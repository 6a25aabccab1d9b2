"""The statements of a C program at a place: what an edit can be put before and behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rdma_robust.c.front.c_units import CUnits
from rdma_robust.c.front.cursors import children, cursor_kind
from rdma_robust.c.front.libclang import Cursor

_LOOPS: Final = ("FOR_STMT", "WHILE_STMT", "DO_STMT")
_LABELS: Final = ("CASE_STMT", "DEFAULT_STMT", "LABEL_STMT")
_LEAVING: Final = ("RETURN_STMT", "GOTO_STMT", "BREAK_STMT", "CONTINUE_STMT")
_BLANK: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class CStatement:
    """A statement of a file, from offset `start` to before `end`, in characters.

    `alone` if it is the whole body of a loop or a branch, so that a block is needed beside others; `leaves` if nothing
    behind it is executed after it; `loops` is how many loops of its function are around it.
    """

    file: str
    start: int
    end: int
    alone: bool = False
    leaves: bool = False
    loops: int = 0


@dataclass(frozen=True, slots=True)
class CallText:
    """A call as it is written: the name of the function, and its arguments."""

    name: str
    arguments: tuple[str, ...]


@dataclass
class StatementFinder:
    """Finds statements of units; `texts` are those of files that are not what is saved."""

    units: CUnits
    texts: Mapping[str, str]
    _bytes: dict[str, bytes] = field(default_factory=dict)

    def statement(self, file: str, line: int, column: int) -> CStatement | None:
        """Return the innermost statement at a place (line and column in bytes, from 1), None where its end is not seen, as
        where a macro has it."""
        at = self._offset(file, line, column)
        function = self._function(file, at)
        if function is None:
            return None
        found = _innermost(children(function)[-1], file, at, alone=False, loops=0)
        return None if found is None else self._placed(file, *found)

    def call(self, file: str, line: int, column: int) -> CallText | None:
        """Return the call that begins at a place, None where there is none or where a macro makes it."""
        at = self._offset(file, line, column)
        todo = [each for each in [self._function(file, at)] if each is not None]
        while todo:
            here = todo.pop()
            if cursor_kind(here) == "CALL_EXPR" and _has(here, file, at) and here.location.offset == at:
                return self._written(file, here)
            todo += [each for each in children(here) if _has(each, file, at)]
        return None

    def text(self, file: str) -> str:
        """Return the text of a file as it is read."""
        if file in self.texts:
            return self.texts[file]
        return Path(file).read_text(encoding="utf-8", errors="surrogateescape")

    def _raw(self, file: str) -> bytes:
        if file not in self._bytes:
            self._bytes[file] = self.text(file).encode("utf-8", "surrogateescape")
        return self._bytes[file]

    def _offset(self, file: str, line: int, column: int) -> int:
        lines = self._raw(file).split(b"\n")
        return sum(len(each) + 1 for each in lines[: line - 1]) + column - 1

    def _characters(self, file: str, offset: int) -> int:
        return len(self._raw(file)[:offset].decode("utf-8", "surrogateescape"))

    def _function(self, file: str, at: int) -> Cursor | None:
        return next((each for each in self.units.bodies() if _has(each, file, at)), None)

    def _placed(self, file: str, found: Cursor, alone: bool, loops: int) -> CStatement | None:
        raw, start, end = self._raw(file), found.extent.start.offset, found.extent.end.offset
        if raw[end - 1 : end] not in (b";", b"}"):
            while end < len(raw) and raw[end] in _BLANK:
                end += 1
            if raw[end : end + 1] != b";":
                return None
            end += 1
        leaves = cursor_kind(found) in _LEAVING
        return CStatement(file, self._characters(file, start), self._characters(file, end), alone, leaves, loops)

    def _written(self, file: str, call: Cursor) -> CallText | None:
        raw, last = self._raw(file), call.extent.start.offset
        found = []
        for each in call.get_arguments():
            start, end = each.extent.start.offset, each.extent.end.offset
            if start < last or end > call.extent.end.offset:
                return None
            found.append(raw[start:end].decode("utf-8", "replace"))
            last = end
        return CallText(str(call.spelling), tuple(found))


def _has(cursor: Cursor, file: str, at: int) -> bool:
    start, end = cursor.extent.start, cursor.extent.end
    return start.file is not None and str(start.file.name) == file and start.offset <= at < end.offset


def _innermost(here: Cursor, file: str, at: int, *, alone: bool, loops: int) -> tuple[Cursor, bool, int] | None:
    """Return the innermost statement of `here` at an offset, whether it is alone, and how many loops are around it."""
    kind, inside = cursor_kind(here), children(here)
    if kind == "COMPOUND_STMT":
        found = next((each for each in inside if _has(each, file, at)), None)
        return None if found is None else _innermost(found, file, at, alone=False, loops=loops)
    bodies: list[Cursor] = []
    if kind == "IF_STMT":
        bodies = inside[1:]
    elif kind == "DO_STMT":
        bodies = inside[:1]
    elif kind in (*_LOOPS, *_LABELS, "SWITCH_STMT"):
        bodies = inside[-1:]
    for body in bodies:
        if _has(body, file, at):
            return _innermost(body, file, at, alone=kind not in _LABELS, loops=loops + (kind in _LOOPS))
    return here, alone, loops
