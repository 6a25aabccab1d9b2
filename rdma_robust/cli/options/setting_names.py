"""What a settings file can set: options of commands, by their names.

A test compares it with the options as they are declared; so no command but the one that runs is loaded for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from rdma_robust.cli.options.help_texts import COMMANDS
from rdma_robust.errors import Span

TABLE: Final = "tool.rdma-robust"
"""The table of `pyproject.toml` that has settings."""

Kind = Literal["number", "whole", "yes or no", "text", "list"]

DECIDING: Final = (
    "check",
    "models",
    "scale",
    "cover",
    "outcomes",
    "explain",
    "repair",
    "report",
    "reach",
    "verify",
    "prove",
    "lint",
    "synthesise",
    "messages",
    "contracts",
)

UNDER_RDMA: Final = ("check", "scale", "outcomes", "explain", "explore", "export", "repair", "report", "reach", "verify")

SETTINGS: Final[dict[str, tuple[Kind, tuple[str, ...]]]] = {
    "timeout": ("number", DECIDING),
    "memory": (
        "whole",
        (
            "check",
            "models",
            "scale",
            "cover",
            "explain",
            "explore",
            "repair",
            "report",
            "reach",
            "verify",
            "prove",
            "lint",
            "messages",
            "contracts",
        ),
    ),
    "max-states": (
        "whole",
        ("check", "models", "scale", "cover", "outcomes", "explain", "repair", "report", "reach", "verify", "prove"),
    ),
    "jobs": ("whole", ("check", "models", "scale", "cover", "report", "reach", "verify", "prove", "messages", "contracts")),
    "expect": ("yes or no", ("check", "scale", "cover", "report", "prove", "messages", "contracts")),
    "procs": ("text", ("contracts",)),
    "mode": ("text", ("contracts",)),
    "deny": ("text", ("messages",)),
    "buffer": ("text", ("messages",)),
    "loop-bound": ("whole", ("messages",)),
    "matches": ("yes or no", ("messages",)),
    "ordered-reads": ("yes or no", UNDER_RDMA),
    "cpu": ("text", UNDER_RDMA),
    "atomics": ("text", UNDER_RDMA),
    "order": ("text", UNDER_RDMA),
    "recv-depth": ("whole", ("models", *(name for name in UNDER_RDMA if name != "export"))),
    "await-loops": ("yes or no", ("check", "models", "scale", "explain", "explore", "export", "repair", "report")),
    "instrumentation": ("text", ("check", "scale", "report")),
    "engine": ("text", ("check", "scale", "report")),
    "kernel": ("text", ("check", "scale", "report")),
    "reductions": ("text", ("check", "scale", "report")),
    "self-check": ("yes or no", ("check", "report", "messages", "contracts")),
    "explain": ("yes or no", ("check", "cover", "reach", "verify", "prove", "messages", "contracts")),
    "quiet": (
        "yes or no",
        ("check", "models", "scale", "cover", "report", "reach", "verify", "prove", "lint", "messages", "contracts"),
    ),
    "no-hangs": ("yes or no", ("verify",)),
    "strict": ("yes or no", ("verify",)),
    "reduction": ("text", ("prove",)),
    "bound": ("whole", ("prove",)),
    "needless": ("yes or no", ("lint",)),
    "claims": ("number", ("report",)),
    "enable": ("list", ("check", "lint")),
    "disable": ("list", ("check", "lint")),
    "cost-poll": ("whole", ("repair",)),
    "cost-rfence": ("whole", ("repair",)),
    "cost-flush": ("whole", ("repair",)),
    "cost-mfence": ("whole", ("repair",)),
    "loop-weight": ("whole", ("repair",)),
    "fail-on": ("text", ("compare",)),
}
"""Each setting with what its value is, and the commands for which it counts at the top of the file."""

COLOR: Final = "color"
"""A setting of all commands: auto, always or never."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a setting, of all commands or of one, and where it is."""

    command: str | None
    name: str
    value: Any
    span: Span


def commands_of(name: str) -> tuple[str, ...]:
    """Return the commands that have a setting."""
    return tuple(COMMANDS) if name == COLOR else SETTINGS[name][1]
