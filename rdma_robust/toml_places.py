"""TOML with places: where keys stand, which Python's reader does not tell, in one pass over texts that may be wrong.

Also how deep a text is nested: that reader needs time by the square of the parts of a key, and a stack for what is nested.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.text import json_mistake

DEEPEST: Final = 32
"""Parts of a key, and arrays and tables inside one another, at most; no file of the tool has more than four."""

Path = tuple[str, ...]

_TOKEN: Final = re.compile(
    r"(?P<skip>[ \t\r]++|#[^\n]*+)|(?P<line>\n)|(?P<key>[A-Za-z0-9_-]++)"
    r'|(?P<long>"""(?s:(?:[^"\\]|\\.|"(?!""))*+)(?:"{3,5}|\Z)|'
    r"'''(?s:.*?)(?:'{3,5}|\Z))"
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)|(?P<sign>[^\n])"""
)


@dataclass(frozen=True, slots=True)
class KeyPlaces:
    """The offsets (start, end) of each key and table by its path; `deep` is where one is too deep, if one is."""

    found: Mapping[Path, tuple[int, int]]
    deep: int | None


@dataclass
class _Scan:
    table: Path = ()
    places: dict[Path, tuple[int, int]] = field(default_factory=dict)
    deep: int | None = None

    def note(self, keys: list[tuple[str, int, int]], above: Path) -> Path:
        """Keep the place of a dotted key, that of its last part, and return its path."""
        path = above
        for name, start, end in keys[:DEEPEST]:
            path = (*path, name)
            self.places.setdefault(path, (start, end))
        if len(keys) + len(above) > DEEPEST and self.deep is None:
            self.deep = keys[0][1]
        return path[:DEEPEST]


def key_places(text: str) -> KeyPlaces:
    """Return where keys are in a text, as far as it is TOML."""
    scan = _Scan()
    keys: list[tuple[str, int, int]] = []
    opened: list[tuple[str, Path]] = []  # of each bracket that is open: which, and the path of what is in it
    in_key, header = True, False
    path: Path = ()
    for kind, word, start, end in _tokens(text):
        if kind == "line" and not opened:
            keys, in_key, header = [], True, False
        elif kind in ("key", "text") and in_key:
            keys.append((_plain(word), start, end))
        elif word == "[" and in_key and not opened and not keys:
            header = True
        elif word == "]" and header:
            scan.table, in_key = scan.note(keys, ()), False
            keys, header = [], False
        elif word == "=" and in_key:
            path = scan.note(keys, opened[-1][1] if opened else scan.table)
            keys, in_key = [], False
        elif word in "[{" and not in_key:
            opened.append((word, path))
            in_key = word == "{"
            if len(opened) > DEEPEST and scan.deep is None:
                scan.deep = start
        elif word in "]}" and opened:
            opened.pop()
            in_key = False
        elif word == "," and opened:
            keys, in_key = [], opened[-1][0] == "{"
    return KeyPlaces(scan.places, scan.deep)


def _tokens(text: str) -> Iterator[tuple[str, str, int, int]]:
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        if kind != "skip":
            yield kind, found[0], found.start(), found.end()


def _plain(word: str) -> str:
    """Return the name that a key writes, without its quotation marks; escapes in it stay."""
    return word[1:-1] if word[:1] in ("'", '"') else word


class TomlText:
    """A text that should be TOML, of a file that a report is about; `code` is that of what is none."""

    def __init__(self, report: Reporter, code: str) -> None:
        self.report = report
        self._of_none = code
        self._places = key_places(report.source)

    def document(self) -> dict[str, Any]:
        """Return what the text says. Raises ProgramError where it is no TOML."""
        code = self._of_none
        if self._places.deep is not None:
            self.report.error(code, self._span(self._places.deep, self._places.deep + 1), "nested too deeply")
            self.report.raise_errors()
        try:
            return tomllib.loads(self.report.source)
        except tomllib.TOMLDecodeError as error:
            place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
            span = self._at(int(place[1]), int(place[2])) if place else NO_SPAN
            said = str(error).rpartition(" (at ")[0] or str(error)
        except (ValueError, RecursionError) as error:
            span, said = NO_SPAN, json_mistake(error)
        self.report.error(code, span, f"not TOML: {said[:1].lower()}{said[1:]}")
        self.report.raise_errors()
        raise AssertionError("an error was raised")

    def place(self, *path: str) -> Span:
        """Return where a key is; nowhere if the text has none of this path."""
        found = self._places.found.get(path)
        return NO_SPAN if found is None else self._span(*found)

    def _at(self, line: int, column: int) -> Span:
        lines = self.report.source.split("\n")
        start = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
        return self._span(start, start + 1)

    def _span(self, start: int, end: int) -> Span:
        text = self.report.source
        line, column = text.count("\n", 0, start) + 1, start - (text.rfind("\n", 0, start) + 1) + 1
        return Span(line, column, line, column + end - start, start, end)
