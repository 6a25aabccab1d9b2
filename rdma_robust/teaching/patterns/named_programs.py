"""Programs to begin with: patterns that are in use, each with comments that say why it works, and with claims."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final, Literal, get_args

from rdma_robust.errors import InternalError
from rdma_robust.language.load import load_decidable

PatternName = Literal["ring", "lock", "mailbox", "barrier", "rpc", "kv"]
PATTERNS: Final[tuple[PatternName, ...]] = get_args(PatternName)


def pattern(name: PatternName) -> str:
    """Return the text of the program called `name`."""
    return files("rdma_robust.teaching.patterns").joinpath(f"templates/{name}.rdma").read_text(encoding="utf-8")


def about(name: PatternName) -> str:
    """Return in a line what the program is: its first comment."""
    first = pattern(name).split("\n", 1)[0]
    if not first.startswith("// "):
        raise InternalError(f"the pattern {name} does not say what it is")
    return first.removeprefix("// ")


def constants(name: PatternName) -> tuple[tuple[str, int], ...]:
    """Return the constants of the program that can be given other values: not those that are computed from others."""
    text = pattern(name)
    numbers = re.findall(r"^const (\w+) = \d+ *(?://|$)", text, re.MULTILINE)
    return tuple(each for each in load_decidable(text, f"{name}.rdma").constants if each[0] in numbers)
