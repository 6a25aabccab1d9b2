"""The index of litmus/prove: every program with what it is and what it claims to be under which model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from sitegen.litmus_index import HEADER, LITMUS, description, link
from sitegen.text import cell, table

PROVE: Final = LITMUS / "prove"
PROVE_INDEX: Final = PROVE / "README.md"

_ABOUT: Final = (
    "Programs for `rdma-robust prove`: mutual exclusion, protocols and queues, many with numbers that grow forever. The "
    "first comment of each says what it is, what it asks, and where it comes from; `expected.json` has which engine "
    "answered and how large its search was. `plain` have no fence and no flush, `fenced` and `flushed` one at every site, "
    "`fewest` as few as are enough, `one-less` one of those taken out, `broken` a mistake that SC shows too."
)


def prove_index() -> str:
    """Return the text of litmus/prove/README.md."""
    programs = sorted(PROVE.glob("*.rdma"), key=lambda path: path.stem)
    rows = ((link(path.stem), cell(description(path)), cell(claims(path))) for path in programs)
    head = (
        f"# Programs to prove\n\n{HEADER.replace('litmus_index', 'prove_index')}\n\n{len(programs)} programs. {_ABOUT}\n\n"
    )
    return head + table(("program", "what it is", "expected"), rows)


def claims(path: Path) -> str:
    """Return what the `expect` lines of a program say about safety, models of one answer together."""
    found = re.findall(r"\b(safe|unsafe) under (\w+)", path.read_text(encoding="utf-8"))
    answers = dict.fromkeys(answer for answer, _ in found)
    return "; ".join(f"{answer} under {', '.join(m for a, m in found if a == answer)}" for answer in answers)
