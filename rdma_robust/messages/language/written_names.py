"""What is known while one process is written out: its registers and requests, and how large it may become."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.errors import Span

MAX_STATEMENTS: Final = 100_000
"""Statements of all processes together, once functions and families are written out."""

MAX_DEPTH: Final = 100
"""Blocks and functions inside of one another, once they are written out."""


class TooLargeError(Exception):
    """The program is too large once it is written out; says what is too much."""


@dataclass(slots=True)
class Written:
    """What comes of one process besides its statements: the names of its registers and requests, in their order.

    `left` is how many statements there may still be in all.
    """

    left: int
    registers: dict[str, None] = field(default_factory=dict)
    requests: dict[str, None] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    uses_library: bool = False
    loops: bool = False
    """Whether loops with contracts are written out as calls."""


@dataclass(frozen=True, slots=True)
class InFunction:
    """The function that is read: where it gives its result, and the call that is written out."""

    result: str
    call: Span | None = None
