"""Starter programs: patterns that are in use, each with comments that say why it works, and with claims.

In: a name. Out: the text of a program whose claims hold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Final, Literal

from rdma_robust.errors import InternalError
from rdma_robust.language.defines import with_definitions
from rdma_robust.language.load import load_decidable
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_words import message_grammar

PatternName = Literal["ring", "lock", "mailbox", "barrier", "rpc", "kv", "halo", "workers", "calls"]
PATTERNS: Final[tuple[PatternName, ...]] = ("ring", "lock", "mailbox", "barrier", "rpc", "kv")
MESSAGE_PATTERNS: Final[tuple[PatternName, ...]] = ("halo", "workers", "calls")
"""Programs that share memory, and programs that pass messages."""


def file_name(name: PatternName) -> str:
    """Return the name of the program's file; its suffix says which language it is of."""
    return f"{name}.mp" if name in MESSAGE_PATTERNS else f"{name}.rdma"


def pattern(name: PatternName) -> str:
    """Return the text of the program called `name`."""
    return files("rdma_robust.teaching.patterns").joinpath(f"templates/{file_name(name)}").read_text(encoding="utf-8")


def pattern_summary(name: PatternName) -> str:
    """Return in a line what the program is: its first comment."""
    first = pattern(name).split("\n", 1)[0]
    if not first.startswith("// "):
        raise InternalError(f"the pattern {name} does not say what it is")
    return first.removeprefix("// ")


def pattern_constants(name: PatternName) -> tuple[tuple[str, int], ...]:
    """Return the constants of the program that can be given other values: not those that are computed from others."""
    numbers = re.findall(r"^const (\w+) = (\d+) *(?://|$)", pattern(name), re.MULTILINE)
    return tuple((constant, int(value)) for constant, value in numbers)


def with_values(name: PatternName, define: Sequence[str]) -> str:
    """Return the program called `name` with constants as `define` says, as `NAME=VALUE`.

    Raises UsageError for what defines nothing, and ProgramError if that is no program.
    """
    if name not in MESSAGE_PATTERNS:
        text = with_definitions(pattern(name), define)
        load_decidable(text, file_name(name))
        return text
    text = with_definitions(pattern(name), define, message_grammar())
    load_messages(text, file_name(name))
    return text
