"""The codes of messages as a page: what each means, with a program that gives it and one that does not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

from rdma_robust.codes.known_codes import EXAMPLES, RANGES, MessageCode, codes
from sitegen.text import GENERATED

INTRODUCTION = f"""{GENERATED}

# Error codes

Every error and warning ends with its code, `[RR201]`, and reports name it: JSON as `code`, SARIF as the rule. `rdma-robust
explain-code RR201` prints what is below for that code. A code keeps its meaning between versions; one that is not needed any
more is not given again.
"""


def code_reference() -> str:
    """Return the page."""
    every = list(codes().values())
    begins = [*(begin for begin, _, _ in RANGES), "RR999"]
    ranges = zip(pairwise(begins), (title for _, _, title in RANGES), strict=True)
    sections = (_section(begin, end, title, every) for (begin, end), title in ranges)
    return "\n".join((INTRODUCTION, *sections))


def _section(begin: str, end: str, title: str, every: list[MessageCode]) -> str:
    entries = (_entry(code) for code in every if begin <= code.name < end)
    return "\n".join((f"## {begin} to RR{int(end[2:]) - 1:03}: {title}\n", *entries))


def _entry(code: MessageCode) -> str:
    return "\n".join((f"### {code.name}: {code.title}\n", f"({code.severity}) {code.explanation}\n", *_examples(code)))


def _examples(code: MessageCode) -> Iterator[str]:
    if code.kind == "none":
        return
    if code.kind == "command":
        yield f"Gives {code.name}:\n\n```text\n{code.bad}\n```\n\nDoes not:\n\n```text\n{code.repaired}\n```\n"
        return
    file = EXAMPLES[code.kind][0]
    language = file.rpartition(".")[2] if file.endswith((".rdma", ".mp", ".c")) else "text"
    shown = f"`rdma-robust {shlex.join(code.command(code.bad))}`"
    shown += "" if file in shown else f" beside `{file}`"
    for says, example in ((f"{shown} gives {code.name}", code.bad), ("and does not", code.repaired)):
        yield f"{says}:\n\n```{language}\n{re.sub(chr(10) + '+$', '', example)}\n```\n"
