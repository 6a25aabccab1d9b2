"""Small programs with messages: each is about one cell, or rule, of order tables that synthesised programs do not have.

Source: docs/hardware.md, "What tells two tables apart".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_PARTS: Final = (
    ("put B.x = 1", "send 1 to T1", "r = b; s = x"),
    ("send 1 to T1", "put B.x = 1", "s = x; r = b"),
    ("send 1 to T1", "send 1 to T1", "s = c; r = b"),
    ("send 1 to T1", "get a = B.x", "x = 1; r = b"),
    ("get a = B.x", "send 1 to T1", "r = b; x = 1"),
    ("send 1 to T1", "faa(B.x, 1)", "s = x; r = b"),
    ("faa(B.x, 1)", "send 1 to T1", "r = b; s = x"),
    ("send 1 to T1", "get a = fetch(B.x)", "x = 1; r = b"),
    ("get a = fetch(B.x)", "send 1 to T1", "r = b; x = 1"),
    ("put B.x = 1", "send 1 to T1", "rpoll T0; s = x"),
    ("faa(B.x, 1)", "send 1 to T1", "rpoll T0; s = x"),
    ("put B.x = a", "send 1 to T1", "rpoll T0; put A.a = 1"),
    ("send 1 to T1", "get a = B.one", "get y = A.a; poll A; r = b"),
    ("send 1 to T1", "get a = fetch(B.one)", "get y = A.a; poll A; r = b"),
    ("send 1 to T1", "", "rpoll T0; r = c"),
)
"""Two requests of a thread, or one, and what the other thread does, which has a buffer b, and c if that is named."""


def message_programs() -> Iterator[str]:
    """Yield the texts of the programs."""
    for first, second, does in _PARTS:
        said = re.findall(r"[A-Za-z]\w*", f"{first} {second} {does}")
        words = ("x", *(text for name, text in (("y", "y"), ("one", "one = 1")) if name in said))
        buffers = ("b", "c") if "c" in said or first == second else ("b",)
        registers = ", ".join(name for name in ("r", "s") if name in said)
        lines = [
            "domain 0..1",
            f"node A {{ {'a' if 'a' in said else ''} }}",
            f"node B {{ {', '.join((*words, *buffers))} }}",
            "thread T0 on A {",
            *(f"  {each}" for each in (first, second) if each),
            "}",
            "thread T1 on B {",
            *([f"  reg {registers}"] if registers else []),
            *(f"  posted {buffer} from T0" for buffer in buffers),
            *(f"  {each}" for each in does.split("; ")),
            "}",
        ]
        yield "\n".join(lines) + "\n"
