"""The index of litmus/contracts: every program with what it is, and what is expected of its functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sitegen.litmus_index import HEADER, LITMUS, description
from sitegen.text import cell, table

CONTRACTS: Final = LITMUS / "contracts"
CONTRACTS_INDEX: Final = CONTRACTS / "README.md"

ABOUT: Final = (
    "Procedures with contracts. The first comment of each file says what it is; its `expect contract` lines say what is "
    "found. `rdma-robust contracts check --expect litmus/contracts/` compares them."
)

_LINE: Final = re.compile(r"^expect (contract .*?)(?: under ([\w, ]+))?$", re.MULTILINE)
_CLAIM: Final = re.compile(r"contract (\w+) ([^,]*)")
_WEAK: Final = ("weak", "own")
SECTIONS: Final[tuple[tuple[str, str, Callable[[str], bool]], ...]] = (
    (
        "Programs",
        "The eighteen programs of Ziqing Luo's thesis on contracts for message passing, some in two variants, the whole "
        "sort, and a ring: all verified.",
        lambda name: "-" not in name and not name.startswith(("figure", "endless", "loop_")),
    ),
    (
        "Loops with invariants",
        "Procedures that repeat a round any number of times, proved from what is true at each head of the loop; "
        "wrong variants of body, invariant and contract.",
        lambda name: name.startswith("loop_"),
    ),
    (
        "Printed contracts",
        "Contracts as the thesis prints them, what is wrong with them, and repaired.",
        lambda name: name.startswith("figure"),
    ),
    (
        "Weak contracts",
        "Callees whose contracts do not say what their callers need, in pairs: two bodies that both meet the contract.",
        lambda name: name.startswith(_WEAK),
    ),
    (
        "Requests",
        "Functions that post receives and wait for them later, right ones and wrong ones.",
        lambda name: name.startswith("requests"),
    ),
    (
        "Sends that wait",
        "Functions for which it matters whether a send waits until its message is taken (`--buffer zero`).",
        lambda name: name.startswith("zero"),
    ),
    (
        "Wrong variants",
        "The programs with one mistake each, in the body or in the contract, and small ones; among them a few changes "
        "that are no mistake.",
        lambda name: (
            not name.startswith((*_WEAK, "figure", "requests", "zero", "loop_")) and ("-" in name or name == "endless")
        ),
    ),
)
"""The title of each part, what it is, and which programs are in it."""


def contract_programs() -> list[Path]:
    """Return all programs with contracts."""
    return sorted(CONTRACTS.glob("*.mp"), key=lambda path: path.stem)


def contracts_index() -> str:
    """Return the text of litmus/contracts/README.md."""
    header = HEADER.replace("litmus_index", "contracts_index")
    parts = [f"# Contracts\n\n{header}\n\n{len(contract_programs())} programs. {ABOUT}\n"]
    for title, about, belongs in SECTIONS:
        rows = [
            (f"[{path.stem}]({path.name})", cell(description(path)), expected(path))
            for path in contract_programs()
            if belongs(path.stem)
        ]
        parts.append(f"## {title}\n\n{about}\n\n{table(('program', 'what it is', 'expected'), rows)}")
    return "\n".join(parts)


def claims_of(path: Path, buffer: str = "infinite") -> dict[str, str]:
    """Return what the `expect contract` lines of a file say about a buffer, by the names of functions."""
    lines = _LINE.findall(path.read_text(encoding="utf-8"))
    return {
        name: claim
        for claims, buffers in lines
        for name, claim in _CLAIM.findall(claims)
        if buffer in (buffers or "infinite").split(", ")
    }


def expected(path: Path) -> str:
    """Return what a file expects: of every function that is not verified, or that all are."""
    under = claims_of(path, "zero")
    said = _expected(claims_of(path))
    return f"{said}; under `zero`: {_expected(under)}" if under else said


def _expected(claims: dict[str, str]) -> str:
    wrong = [
        f"`{name}` {claim.removeprefix('violated ')}" for name, claim in claims.items() if claim.split(" ")[0] != "verified"
    ]
    every = [f"`{name}`" for name, claim in claims.items() if claim == "verified any n"]
    proved = "" if not every else " for every n" if len(every) == len(claims) else f"; for every n {', '.join(every)}"
    return ", ".join(wrong) or f"verified{proved}"
