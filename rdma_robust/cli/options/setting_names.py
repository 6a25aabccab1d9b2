"""What a settings file can set: options of commands, by their names, as tools register them.

A test compares it with the options as they are declared; so no command but the one that runs is loaded for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rdma_robust.errors import Span
from rdma_robust.frame import registry

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
