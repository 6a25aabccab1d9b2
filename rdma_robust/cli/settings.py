"""Settings from a file: `rdma-robust.toml`, or the table `tool.rdma-robust` of `pyproject.toml`, of the current folder or
the nearest one above that has one.

At the top are settings for every command that has the option of that name; a table of the name of a command is for it
alone. The command line counts more than the file.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rdma_robust.errors import ProgramError, Span, UsageError
from rdma_robust.files import read_regular
from rdma_robust.frame import registry

OWN: Final = "rdma-robust.toml"
PROJECT: Final = "pyproject.toml"
LARGEST: Final = 1 << 20

OF_FILES: Final = "order"
"""The setting whose value may be the name of a file."""

TABLE: Final = "tool.rdma-robust"
"""The table of `pyproject.toml` that has settings."""

COLOR: Final = "color"
"""A setting of all commands: auto, always or never."""


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """The value of a setting, of all commands or of one, and where it is."""

    command: str | None
    name: str
    value: Any
    span: Span


def commands_of(name: str) -> tuple[str, ...]:
    """Return the commands that have a setting."""
    return tuple(registry.commands()) if name == COLOR else registry.settings()[name][1]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a file, `file` as the user sees it from here; without a file nothing."""

    file: str = ""
    text: str = ""
    entries: tuple[SettingEntry, ...] = ()

    def of(self, command: str) -> dict[str, SettingEntry]:
        """Return the settings that count for a command, by name."""
        found = {each.name: each for each in self.entries if each.command is None and command in commands_of(each.name)}
        return found | {each.name: each for each in self.entries if each.command == command}

    def defaults(self, command: str) -> dict[str, Any]:
        """Return the values of options for a command, by the names of its parameters."""
        return {name.replace("-", "_"): self._from_here(each) for name, each in self.of(command).items()}

    def _from_here(self, entry: SettingEntry) -> Any:
        """Return the value of an entry; a file is named from the folder of the settings."""
        of_file = entry.name == OF_FILES and isinstance(entry.value, str) and entry.value.endswith(".toml")
        return os.path.join(os.path.dirname(self.file), entry.value) if of_file else entry.value

    def blamed(self, command: str, why: str, arguments: Sequence[str]) -> ProgramError | None:
        """Return the error of the setting that a complaint of a command is about: the option that it begins with, unless it
        is among the `arguments`. None if it is about none."""
        option = re.match(r"--([a-z-]+)", why)
        if option is None or any(each.partition("=")[0] == option[0] for each in arguments):
            return None
        return self.refused(command, option[1], why, ":")

    def refused(self, command: str, parameter: str, why: str, verb: str = " is") -> ProgramError | None:
        """Return the error of a setting whose value the option of a command does not take, None if the file has none."""
        found = self.of(command).get(parameter.replace("_", "-"))
        if found is None:
            return None
        from rdma_robust.diagnose import Reporter, quote  # noqa: PLC0415 - slow, and settings are mostly right

        report = Reporter(self.file, self.text)
        said = re.sub(r"^--\S+?:? ", "", why.partition(". See ")[0])
        report.error("RR803", found.span, f"{quote(found.name)}{verb} {said}")
        try:
            report.raise_errors()
        except ProgramError as error:
            return error
        return None


def settings_here() -> Settings:
    """Return the settings of the current folder.

    Raises ProgramError with everything that is wrong in the file, and UsageError where it cannot be read.
    """
    found = _nearest(os.getcwd())
    if found is None:
        return Settings()
    path, text = found
    shown = os.path.relpath(path)
    from rdma_robust.cli.settings_reader import SettingsReader  # noqa: PLC0415 - few folders have settings

    return Settings(shown, text, tuple(SettingsReader(shown, text, os.path.basename(path) == PROJECT).entries()))


def _nearest(folder: str) -> tuple[str, str] | None:
    """Return the path and the text of the file that counts."""
    while True:
        for name in (OWN, PROJECT):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                text = _read(path)
                if name == OWN or _sets(text):
                    return path, text
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _sets(text: str) -> bool:
    """Whether a `pyproject.toml` has the table of settings, however it is written."""
    if "rdma-robust" not in text:
        return False
    from rdma_robust.toml_places import key_places  # noqa: PLC0415 - few projects name the tool

    found = key_places(text).found
    no_table = ("tool",) in found and not any(len(path) > 1 and path[0] == "tool" for path in found)
    return ("tool", "rdma-robust") in found or (no_table and TABLE in text)


def _read(path: str) -> str:
    try:
        data = read_regular(path, LARGEST + 1)
        if len(data) > LARGEST:
            raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MiB")
        return data.decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        if os.path.basename(path) == PROJECT:
            return ""
        raise UsageError(f"the settings in {os.path.relpath(path)} cannot be read: {why}") from error
