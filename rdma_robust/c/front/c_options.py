"""Options with which C is read: those of a compiler that change what the text is, and further files."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rdma_robust.errors import UsageError

COMMANDS: Final = "compile_commands.json"
_KEPT: Final = ("-I", "-D", "-U", "-isystem", "-iquote", "-include", "-std=")
"""Options of a compiler that change what a text is."""


@dataclass(frozen=True, slots=True)
class COptions:
    """How C is read: folders of headers (`-I`), definitions (`-D`, `-U`), headers before the text (`-include`), the
    standard (`-std`), further files of the program (`--with`), a folder with `compile_commands.json`; and the number of
    processes of a program whose processes run the same (`-n`). A program of OpenSHMEM or MPI is about queue pairs or
    about the `standard` of its library (`--about`). `main` is run with arguments (`--arg`)."""

    folders: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    standard: str = ""
    more_files: tuple[str, ...] = ()
    commands: str = ""
    processes: int | None = None
    about: str = "queue pairs"
    with_errors: bool = False
    program_arguments: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The options as those of a compiler."""
        made = [*(f"-I{each}" for each in self.folders), *(f"-D{each}" for each in self.definitions)]
        made += [f"-U{each}" for each in self.undefined]
        for header in self.headers:
            made += ["-include", header]
        return (*made, *([f"-std={self.standard}"] if self.standard else []))


def compile_commands(folder: str) -> dict[str, tuple[str, ...]]:
    """Return the files of `compile_commands.json` in a folder, each with the options that change what its text is.

    Raises UsageError if the file cannot be read.
    """
    path = Path(folder) / COMMANDS
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {_file(each): _kept(each) for each in entries}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _file(entry: dict[str, Any]) -> str:
    return str(os.path.normpath(os.path.join(entry["directory"], entry["file"])))


def _kept(entry: dict[str, Any]) -> tuple[str, ...]:
    words = list(entry.get("arguments") or shlex.split(entry["command"]))
    found: list[str] = []
    while words:
        word = words.pop(0)
        kind = next((kept for kept in _KEPT if word.startswith(kept)), "")
        if not kind:
            continue
        value = word[len(kind) :] or (words.pop(0) if words else "")
        if kind in ("-I", "-isystem", "-iquote"):
            value = os.path.join(entry["directory"], value)
        found += [kind, value] if kind in ("-isystem", "-iquote", "-include") else [kind + value]
    return tuple(found)


def with_commands(options: COptions, file: str) -> tuple[COptions, dict[str, tuple[str, ...]]]:
    """Return options with all C files of `compile_commands.json` as further files, and the options of each of them."""
    if not options.commands:
        return options, {}
    found = compile_commands(options.commands)
    own = os.path.abspath(file)
    more = tuple(each for each in found if each.endswith(".c") and os.path.abspath(each) != own)
    return replace(options, more_files=(*options.more_files, *more)), found
