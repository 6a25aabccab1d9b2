"""JSON whose values know where they stand, so that what is wrong with them can be shown there."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Span

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"')
_WORDS: Final = {"true": True, "false": False, "null": None}
_DEPTH: Final = 50
_DIGITS: Final = 1000
"""Of the longest number that is read."""


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """A JSON value: objects have Located members, arrays Located elements. It stands from `start` to `end` of a text."""

    value: dict[str, LocatedValue] | list[LocatedValue] | str | int | float | bool | None
    lines: LineStarts
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.lines.span(self.start, self.end)

    @property
    def members(self) -> dict[str, LocatedValue] | None:
        return self.value if isinstance(self.value, dict) else None

    @property
    def elements(self) -> list[LocatedValue] | None:
        return self.value if isinstance(self.value, list) else None

    @property
    def text(self) -> str | None:
        return self.value if isinstance(self.value, str) else None

    @property
    def whole(self) -> int | None:
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None


class LineStarts:
    """Where the lines of a text begin: from offsets to spans."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def span(self, start: int, end: int) -> Span:
        first, last = self._place(start), self._place(end)
        return Span(*first, *last, start, end)

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


def located_json(
    text: str, report: Reporter, start: int = 0, end: int | None = None, lines: LineStarts | None = None
) -> LocatedValue:
    """Return the one JSON value that is `text`, or its piece from `start` to `end`. Raises ProgramError."""
    reader = _Reader(text, report, len(text) if end is None else end, lines or LineStarts(text))
    value, after = reader.value(start, 0)
    after = reader.skipped(after)
    if after < reader.end:
        reader.wrong(after, "there is something behind the end")
    return value


class _Reader:
    def __init__(self, text: str, report: Reporter, end: int, lines: LineStarts) -> None:
        self.text, self.report, self.end, self.lines = text, report, end, lines

    def wrong(self, at: int, said: str, expected: str = "") -> None:
        self.report.error("RR941", self.lines.span(at, min(at + 1, len(self.text))), said, expected=expected)
        self.report.raise_errors()

    def skipped(self, at: int) -> int:
        match = _SPACE.match(self.text, at, self.end)
        return at if match is None else match.end()

    def value(self, at: int, depth: int) -> tuple[LocatedValue, int]:
        at = self.skipped(at)
        if depth > _DEPTH:
            self.wrong(at, f"more than {_DEPTH} values inside of one another")
        sign = self.text[at] if at < self.end else ""
        if sign == "{":
            return self.object(at, depth)
        if sign == "[":
            return self.array(at, depth)
        if sign == '"':
            return self.string(at)
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, at, self.end):
                return LocatedValue(meaning, self.lines, at, at + len(word)), at + len(word)
        match = _NUMBER.match(self.text, at, self.end)
        if match is None:
            self.wrong(at, "the text ends here" if at >= self.end else "this is no JSON", "a value of JSON")
            raise AssertionError("an error was raised")
        return self.number(match)

    def number(self, match: re.Match[str]) -> tuple[LocatedValue, int]:
        if len(match[0]) > _DIGITS:
            self.wrong(match.start(), "a number that is too long")
        value = int(match[0]) if match[0].lstrip("-").isdigit() else float(match[0])
        return LocatedValue(value, self.lines, match.start(), match.end()), match.end()

    def string(self, at: int) -> tuple[LocatedValue, int]:
        match = _STRING.match(self.text, at, self.end)
        if match is None:
            self.wrong(at, "this string is not closed, or has something in it that none can have", 'a string in `"`')
            raise AssertionError("an error was raised")
        text = json.loads(match[0]) if "\\" in match[0] else match[0][1:-1]
        return LocatedValue(text, self.lines, at, match.end()), match.end()

    def array(self, start: int, depth: int) -> tuple[LocatedValue, int]:
        found: list[LocatedValue] = []
        at = self.skipped(start + 1)
        while not self.text.startswith("]", at, self.end):
            if found:
                at = self.comma(at, "]")
            value, at = self.value(at, depth + 1)
            found.append(value)
            at = self.skipped(at)
        return LocatedValue(found, self.lines, start, at + 1), at + 1

    def object(self, start: int, depth: int) -> tuple[LocatedValue, int]:
        found: dict[str, LocatedValue] = {}
        at = self.skipped(start + 1)
        while not self.text.startswith("}", at, self.end):
            if found:
                at = self.skipped(self.comma(at, "}"))
            if not self.text.startswith('"', at, self.end):
                self.wrong(at, "this is no name of a member", 'a name in `"`')
            name, after = self.string(at)
            assert isinstance(name.value, str)
            if name.value in found:
                self.wrong(at, f"the member `{name.value[:40]}` is there twice")
            at = self.skipped(after)
            if not self.text.startswith(":", at, self.end):
                self.wrong(at, "there is no value for this name", "`:`")
            found[name.value], at = self.value(at + 1, depth + 1)
            at = self.skipped(at)
        return LocatedValue(found, self.lines, start, at + 1), at + 1

    def comma(self, at: int, close: str) -> int:
        if not self.text.startswith(",", at, self.end):
            self.wrong(at, "the text ends here" if at >= self.end else "this is no JSON", f"`,` or `{close}`")
        return at + 1
