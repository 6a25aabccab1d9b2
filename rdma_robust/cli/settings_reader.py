"""Reads a file with settings: what each is, and where, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from rdma_robust.cli.settings import COLOR, TABLE, SettingEntry, commands_of
from rdma_robust.diagnose import Reporter, did_you_mean, quote
from rdma_robust.errors import Span
from rdma_robust.frame import registry
from rdma_robust.frame.registry import Kind
from rdma_robust.toml_places import TomlText

MOST_WRONG: Final = 100
"""Settings that can be wrong before the rest of a file is not looked at."""
LARGEST: Final = 2**63 - 1
"""No limit is meant to be larger, and not every part of the tool could count as far."""

WHENS: Final = ("auto", "always", "never")

NEEDED: Final[Mapping[Kind, str]] = {
    "number": "a number, 0 or more, of at most 18 digits",
    "whole": "a whole number, 0 or more, of at most 18 digits",
    "yes or no": "true or false",
    "text": "a text",
    "list": "a list of texts",
}


class SettingsReader:
    """Reads one file; what is wrong goes to a report."""

    def __init__(self, file: str, text: str, project: bool) -> None:
        self.report = Reporter(file, text)
        self._toml = TomlText(self.report, "RR801")
        self.top = tuple(TABLE.split(".")) if project else ()
        self.wrong = 0

    def entries(self) -> list[SettingEntry]:
        """Return the settings. Raises ProgramError with everything that is wrong."""
        document = self._toml.document()
        for depth, name in enumerate(self.top, 1):
            document = document.get(name, {})
            if not isinstance(document, dict):
                named = ".".join(self.top[:depth])
                self._refuse(
                    "RR803", self._toml.place(*self.top[:depth]), f"{quote(named)} is {_kind_of(document)}", "a table"
                )
                self.report.raise_errors()
        found = [*self._of(document)]
        self.report.raise_errors()
        return found

    def _refuse(self, code: str, span: Span, said: str, expected: str = "", hint: str = "") -> None:
        self.wrong += 1
        self.report.error(code, span, said, expected=expected, hint=hint)

    def _of(self, table: Mapping[str, Any]) -> Iterator[SettingEntry]:
        for name, value in table.items():
            if self.wrong > MOST_WRONG:
                return
            if name in registry.commands() and isinstance(value, dict):
                for inner, setting in islice(value.items(), MOST_WRONG):
                    yield from self._setting(name, inner, setting)
            else:
                yield from self._setting(None, name, value)

    def _setting(self, command: str | None, name: str, value: Any) -> Iterator[SettingEntry]:
        span = self._toml.place(*self.top, *((command,) if command else ()), name)
        known = [each for each in (*registry.settings(), COLOR) if command is None or command in commands_of(each)]
        if name not in known:
            where = f" of {command}" if command else ""
            hint = did_you_mean(name, [*known, *(registry.commands() if command is None else ())])
            hint = hint or (f"{command} has the settings {', '.join(known)}" if known and command else "")
            self._refuse("RR802", span, f"there is no setting {quote(name)}{where}", hint=hint)
            return
        needed = _misfit(name, value)
        if needed:
            self._refuse("RR803", span, f"{quote(name)} is {_kind_of(value)}", needed)
            return
        yield SettingEntry(command, name, value, span)


def _misfit(name: str, value: Any) -> str:
    """Return what a setting needs instead of `value`, nothing if that will do."""
    if name == COLOR:
        return "" if value in WHENS else ", ".join(WHENS[:-1]) + f" or {WHENS[-1]}"
    kind = registry.settings()[name][0]
    fits = {
        "number": isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST,
        "whole": isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST,
        "yes or no": isinstance(value, bool),
        "text": isinstance(value, str),
        "list": isinstance(value, list) and all(isinstance(each, str) for each in value),
    }
    return "" if fits[kind] else NEEDED[kind]


def _kind_of(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() if value.bit_length() > 100:
            return "a number of more than 30 digits"
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
