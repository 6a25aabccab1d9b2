"""Random programs for repairs: those of RDMA as deployed and mutations of named ones, on lanes, with barriers, with relaxed
words and memory behind cards, with branches, loops and polls of all kinds put around their statements."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_decidable
from tests.support.memory_programs import memory_text
from tests.support.random_barriers import with_barriers
from tests.support.random_deployed import FAMILIES, mutant_text, named_texts, random_text
from tests.support.random_lanes import with_lanes
from tests.support.random_programs import Size, random_program
from tests.support.region_programs import relaxed_text

KINDS: Final = (*(f for f in FAMILIES if f != "weaker"), "mutant", "paper", "lanes", "barriers")

WEAKER: Final = ("weaker", "flushes", "unordered", "accumulated", "acknowledged", "lanes", "barriers", "regions", "memories")
"""Kinds of which many programs are under orders but the default, or have words that are not plain."""

_NOT_PROVEN: Final = re.compile(r"order (multipath|relaxed)")

_OTHERS: Final[dict[str, Callable[[str, Random], str | None]]] = {
    "lanes": with_lanes,
    "barriers": with_barriers,
    "regions": relaxed_text,
    "memories": memory_text,
}

SOME: Final = Size(threads=(1, 2), nodes=(2, 2), instructions=(2, 5), total=7)


def repair_text(kind: str, seed: int, *, weaker: bool = False) -> str | None:
    """Return a program of a kind, the same for the same seed; None where a few attempts give none that the
    searches decide. Multipath and relaxed order only if `weaker`."""
    rng = Random(f"repair {kind} {seed}")
    for _ in range(20):
        match kind:
            case "mutant":
                text = mutant_text(rng.choice(list(named_texts().values())), rng)
            case "paper":
                text = random_program(rng, SOME, loops=rng.random() < 0.6)
            case "lanes" | "barriers" | "regions" | "memories":
                text = _OTHERS[kind](random_text(rng.choice(FAMILIES), rng), rng)
            case _:
                text = random_text(kind, rng)
        if text is None or (not weaker and _NOT_PROVEN.search(text)):
            continue
        lines = text.splitlines()
        for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
            lines = _wrapped(lines, rng)
        made = "\n".join(lines) + "\n"
        try:
            load_decidable(made, "random.rdma")
        except ProgramError:
            continue
        return made
    return None


def _wrapped(lines: list[str], rng: Random) -> list[str]:
    """Return the lines with something put around one to three statements of a thread that follow each other."""
    start = rng.choice([k for k, line in enumerate(lines) if line.startswith("thread ")])
    end = next(k for k in range(start, len(lines)) if lines[k] == "}")
    body = [k for k in range(start + 1, end) if not lines[k].lstrip().startswith(("posted", "reg "))]
    if not body:
        return lines
    first = rng.choice(body)
    last = min(end, first + rng.choice([1, 1, 2, 3]))
    inner = lines[first:last]
    if any(line.count("{") != line.count("}") for line in inner) or sum(line.count("{") for line in inner):
        return lines
    registers = re.findall(r"\b[rs]\b", lines[start].partition("reg")[2])
    register = rng.choice(registers) if registers else None
    condition = f"{register} {rng.choice(['==', '!='])} {rng.choice([0, 1])}"
    kind = rng.choice(["choose", "choose", "loop", "while", "if", "if", "poll", "poll"])
    if kind == "poll":
        others = re.findall(r"^node (\w+)", "\n".join(lines), re.M)
        new = {
            "or": lambda m: f"poll {m[1]} or {rng.choice(others)}",
            "try": lambda m: f"{register or 'r'} = trypoll {m[1]}",
        }[rng.choice(["or", "or", "try"])]
        return [*lines[:first], *(re.sub(r"poll (\w+)$", new, line) for line in inner), *lines[last:]]
    if kind in ("if", "while") and register is None:
        return lines
    if kind == "while" and not any(line.startswith("domain") for line in lines):
        lines = ["domain 0..3", *lines]
        first, last = first + 1, last + 1
    count = f"{register} = 0", f"while {register} < 2 {{", f"{register} = {register} + 1", "}"
    around = {
        "choose": (["choose {"], [rng.choice(["} or { skip }", f"}} or {{ {rng.choice(inner).strip()} }}"])]),
        "loop": (["loop {"], ["}"]),
        "while": ([count[0], count[1]], [count[2], count[3]]),
        "if": ([f"if {condition} {{"], ["}" if rng.random() < 0.7 else f"}} else {{ {rng.choice(inner).strip()} }}"]),
    }[kind]
    return [*lines[:first], *around[0], *inner, *around[1], *lines[last:]]
