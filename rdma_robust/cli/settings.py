"""Settings from a file: `rdma-robust.toml`, or the table `tool.rdma-robust` of `pyproject.toml`, of the current folder or
the nearest one above that has one.

At the top are settings for every command that has the option of that name; a table of the name of a command is for it
alone. The command line counts more than the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rdma_robust.cli.options.help_texts import COMMANDS
from rdma_robust.cli.options.setting_names import COLOR, SETTINGS, Kind
from rdma_robust.diagnose import Reporter, did_you_mean, quote
from rdma_robust.errors import NO_SPAN, ProgramError, Span, UsageError

OWN: Final = "rdma-robust.toml"
PROJECT: Final = "pyproject.toml"
TABLE: Final = "tool.rdma-robust"
WHENS: Final = ("auto", "always", "never")
LARGEST: Final = 1 << 20

NEEDED: Final[Mapping[Kind, str]] = {
    "number": "a number, 0 or more",
    "whole": "a whole number, 0 or more",
    "yes or no": "true or false",
    "text": "a text",
    "list": "a list of texts",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a setting, of all commands or of one, and where it is."""

    command: str | None
    name: str
    value: Any
    span: Span


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file sets, `file` as the user sees it from here; without a file nothing."""

    file: str = ""
    text: str = ""
    entries: tuple[Setting, ...] = ()

    def of(self, command: str) -> dict[str, Setting]:
        """Return the settings that count for a command, by name."""
        found = {each.name: each for each in self.entries if each.command is None and command in _commands(each.name)}
        return found | {each.name: each for each in self.entries if each.command == command}

    def defaults(self, command: str) -> dict[str, Any]:
        """Return the values of options for a command, by the names of its parameters."""
        return {name.replace("-", "_"): each.value for name, each in self.of(command).items()}

    def refused(self, command: str, parameter: str, why: str) -> ProgramError | None:
        """Return the error of a setting whose value the option of a command does not take, None if the file has none."""
        found = self.of(command).get(parameter.replace("_", "-"))
        if found is None:
            return None
        report = Reporter(self.file, self.text)
        said = re.sub(r"^--\S+ ", "", why.partition(". See ")[0])
        report.error("RR803", found.span, f"{quote(found.name)} is {said}")
        try:
            report.raise_errors()
        except ProgramError as error:
            return error
        return None


def _commands(name: str) -> tuple[str, ...]:
    return tuple(COMMANDS) if name == COLOR else SETTINGS[name][1]


def settings_here() -> Settings:
    """Return the settings of the current folder.

    Raises ProgramError with everything that is wrong in the file, and UsageError where it cannot be read.
    """
    found = _nearest(os.getcwd())
    if found is None:
        return Settings()
    path, text = found
    shown = os.path.relpath(path)
    return Settings(shown, text, tuple(_Reader(shown, text, os.path.basename(path) == PROJECT).entries()))


def _nearest(folder: str) -> tuple[str, str] | None:
    """Return the path and the text of the file that counts."""
    while True:
        for name in (OWN, PROJECT):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.path.getsize(path) <= LARGEST:
                text = _read(path)
                if name == OWN or re.search(rf"^\s*\[+\s*{re.escape(TABLE)}\s*[.\]]", text, re.MULTILINE):
                    return path, text
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        if os.path.basename(path) == PROJECT:
            return ""
        raise UsageError(f"the settings in {os.path.relpath(path)} cannot be read: {why}") from error


class _Reader:
    """Reads one file; what is wrong goes to a report."""

    def __init__(self, file: str, text: str, project: bool) -> None:
        self.report = Reporter(file, text)
        self.lines = text.split("\n")
        self.prefix = f"{TABLE}." if project else ""
        self.top = TABLE if project else ""

    def entries(self) -> list[Setting]:
        import tomllib  # noqa: PLC0415 - few folders have settings

        try:
            document = tomllib.loads(self.report.source)
        except tomllib.TOMLDecodeError as error:
            place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
            span = self._span(int(place[1]), int(place[2]), 1) if place else NO_SPAN
            said = re.sub(r"\s*\(at .*\)", "", str(error))
            self.report.error("RR801", span, f"not TOML: {said[:1].lower()}{said[1:]}")
            self.report.raise_errors()
        if self.top:
            document = document["tool"]["rdma-robust"]
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
        known = [each for each in (*SETTINGS, COLOR) if command is None or command in _commands(each)]
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
