"""Small programs with messages: each is about one cell, or rule, of order tables that synthesised programs do not have.

Source: docs/hardware.md, "What tells two tables apart".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_PARTS: Final = (
    ("put B.x = 1", "send 1 to T1", "r = b; s = x", "s"),
    ("send 1 to T1", "put B.x = 1", "s = x; r = b", "s"),
    ("send 1 to T1", "send 1 to T1", "s = c; r = b", "s"),
    ("send 1 to T1", "get a = B.x", "x = 1; r = b", ""),
    ("get a = B.x", "send 1 to T1", "r = b; x = 1", ""),
    ("send 1 to T1", "faa(B.x, 1)", "s = x; r = b", "s"),
    ("faa(B.x, 1)", "send 1 to T1", "r = b; s = x", "s"),
    ("send 1 to T1", "get a = fetch(B.x)", "x = 1; r = b", ""),
    ("get a = fetch(B.x)", "send 1 to T1", "r = b; x = 1", ""),
    ("put B.x = 1", "send 1 to T1", "rpoll T0; s = x", "s"),
    ("faa(B.x, 1)", "send 1 to T1", "rpoll T0; s = x", "s"),
)
"""Two requests of a thread, what the other one does, and the register of that beside `r`, if there is one."""


def message_programs() -> Iterator[str]:
    """Yield the texts of the programs."""
    for first, second, does, more in _PARTS:
        registers = ", ".join(["r", *([more] if more else [])])
        buffers = ("b", *(["c"] if first == second else []))
        lines = [
            "domain 0..1",
            f"node A {{ {'a' if 'get' in first + second else ''} }}",
            f"node B {{ x, {', '.join(buffers)} }}",
            "thread T0 on A {",
            f"  {first}",
            f"  {second}",
            "}",
            f"thread T1 on B {{ reg {registers}",
            *(f"  posted {buffer} from T0" for buffer in buffers),
            *(f"  {each}" for each in does.split("; ")),
            "}",
        ]
        yield "\n".join(lines) + "\n"
