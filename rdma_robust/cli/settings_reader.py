"""Reads a file with settings: what each is, and where, and what is wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rdma_robust.cli.options.help_texts import COMMANDS
from rdma_robust.cli.options.setting_names import COLOR, SETTINGS, TABLE, Kind, Setting, commands_of
from rdma_robust.diagnose import Reporter, did_you_mean, quote
from rdma_robust.errors import NO_SPAN, Span

WHENS: Final = ("auto", "always", "never")

NEEDED: Final[Mapping[Kind, str]] = {
    "number": "a number, 0 or more",
    "whole": "a whole number, 0 or more",
    "yes or no": "true or false",
    "text": "a text",
    "list": "a list of texts",
}


class SettingsReader:
    """Reads one file; what is wrong goes to a report."""

    def __init__(self, file: str, text: str, project: bool) -> None:
        self.report = Reporter(file, text)
        self.lines = text.split("\n")
        self.prefix = f"{TABLE}." if project else ""
        self.top = TABLE if project else ""

    def entries(self) -> list[Setting]:
        """Return the settings. Raises ProgramError with everything that is wrong."""
        try:
            document = tomllib.loads(self.report.source)
        except tomllib.TOMLDecodeError as error:
            place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
            span = self._span(int(place[1]), int(place[2]), 1) if place else NO_SPAN
            said = re.sub(r"\s*\(at .*\)", "", str(error))
            self.report.error("RR801", span, f"not TOML: {said[:1].lower()}{said[1:]}")
            self.report.raise_errors()
        if self.top:
            document = document.get("tool", {}).get("rdma-robust", {})
            if not isinstance(document, dict):
                self.report.error("RR803", NO_SPAN, f"{quote(TABLE)} is {_kind_of(document)}", expected="a table")
                self.report.raise_errors()
        found = [*self._of(document)]
        self.report.raise_errors()
        return found

    def _of(self, table: Mapping[str, Any]) -> Iterator[Setting]:
        for name, value in table.items():
            if name in COMMANDS and isinstance(value, dict):
                for inner, setting in value.items():
                    yield from self._setting(name, inner, setting)
            else:
                yield from self._setting(None, name, value)

    def _setting(self, command: str | None, name: str, value: Any) -> Iterator[Setting]:
        span = self._place(command, name)
        known = [each for each in (*SETTINGS, COLOR) if command is None or command in commands_of(each)]
        if name not in known:
            where = f" of {command}" if command else ""
            hint = did_you_mean(name, [*known, *(COMMANDS if command is None else ())])
            hint = hint or (f"{command} has the settings {', '.join(known)}" if known and command else "")
            self.report.error("RR802", span, f"there is no setting {quote(name)}{where}", hint=hint)
            return
        needed = _misfit(name, value)
        if needed:
            self.report.error("RR803", span, f"{quote(name)} is {_kind_of(value)}", expected=needed)
            return
        yield Setting(command, name, value, span)

    def _place(self, command: str | None, name: str) -> Span:
        """Return where a key is, found by its table and its name: TOML's reader tells no places."""
        wanted = self.top if command is None else f"{self.prefix}{command}"
        table = ""
        for number, line in enumerate(self.lines, 1):
            head = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
            if head is not None:
                table = re.sub(r"[\s\"']", "", head[1])
                if command is None and table == f"{self.prefix}{name}":
                    return self._span(number, head.start(1) + 1, len(head[1]))
            key = re.match(rf"(\s*)([\"']?){re.escape(name)}\2\s*(=|\.)", line)
            if key is not None and table == wanted:
                return self._span(number, len(key[1]) + 1, len(name) + 2 * len(key[2]))
        return NO_SPAN

    def _span(self, line: int, column: int, width: int) -> Span:
        start = sum(len(each) + 1 for each in self.lines[: line - 1]) + column - 1
        return Span(line, column, line, column + width, start, start + width)


def _misfit(name: str, value: Any) -> str:
    """Return what a setting needs instead of `value`, nothing if that will do."""
    if name == COLOR:
        return "" if value in WHENS else ", ".join(WHENS[:-1]) + f" or {WHENS[-1]}"
    kind = SETTINGS[name][0]
    fits = {
        "number": isinstance(value, int | float) and not isinstance(value, bool) and value >= 0,
        "whole": isinstance(value, int) and not isinstance(value, bool) and value >= 0,
        "yes or no": isinstance(value, bool),
        "text": isinstance(value, str),
        "list": isinstance(value, list) and all(isinstance(each, str) for each in value),
    }
    return "" if fits[kind] else NEEDED[kind]


def _kind_of(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return f"the text {quote(value)}"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"
