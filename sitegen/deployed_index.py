"""The index of litmus/deployed: every program with what it is, the hardware that it is about, and its verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from sitegen.litmus_index import HEADER, LITMUS, description, link
from sitegen.text import cell, table

DEPLOYED: Final = LITMUS / "deployed"
DEPLOYED_INDEX: Final = DEPLOYED / "README.md"

_ABOUT: Final = (
    "Programs for RDMA as deployed: store buffers, completions, remote atomics, messages, weaker orders. The first comment "
    "of each says what it is and why the answer is what it is, and where it comes from; a `hardware` line says what it runs "
    "on. `rdma-robust litmus/deployed/*.rdma` decides them, `rdma-robust models litmus/deployed/NAME.rdma` shows one on all "
    "hardware."
)

SHELVES: Final = (
    ("Store buffers", "the CPUs of x86 (`cpu tso`)", r"tso-|store-"),
    (
        "Completions",
        "unsignaled, inline and fenced requests, shared completion queues",
        r"(un)?(signaled|fenced)-|inline-|poll|shared-|trypoll|two-buffers|batch",
    ),
    (
        "Order table",
        "the cells of remote atomics, and those that weaker orders give up",
        r"order-|(multipath|relaxed)-n(rw|aw|ar|lw)-",
    ),
    ("Remote atomics", "what they exclude, and what their answer tells", r"atomics-|put-into"),
    (
        "Protocols with atomics",
        "locks, tickets, barriers, queues, counters",
        r"lock-|sherman|farm-commit|barrier-faa|queue-|refcount|version|election",
    ),
    ("Messages", "sends, receives, writes with immediate", r"send-|rpc-|imm-|barrier-send|farm-lock"),
    (
        "Weaker orders",
        "adaptive routing (`order multipath`) and relaxed ordering (`order relaxed`)",
        r"deepep|nccl|multipath-|relaxed-|reads-",
    ),
)
"""Title, what the programs are about, and a pattern of their names; a program stands on the first shelf that fits."""


def shelf_of(path: Path) -> str:
    """Return the title of the shelf of a program. Raises ValueError if none fits."""
    for title, _, pattern in SHELVES:
        if re.match(pattern, path.stem):
            return title
    raise ValueError(f"{path.name} is on no shelf of litmus/deployed: sitegen/deployed_index.py")


def deployed_index() -> str:
    """Return the text of litmus/deployed/README.md."""
    programs = sorted(DEPLOYED.glob("*.rdma"), key=lambda path: path.stem)
    parts = [
        f"# RDMA as deployed\n\n{HEADER.replace('litmus_index', 'deployed_index')}\n\n{len(programs)} programs. {_ABOUT}\n"
    ]
    for title, about, _ in SHELVES:
        rows = [(link(p.stem), cell(description(p)), hardware(p), verdict(p)) for p in programs if shelf_of(p) == title]
        head = ("program", "what it is", "hardware", "verdict")
        parts.append(f"## {title}\n\n{about[0].upper()}{about[1:]}.\n\n{table(head, rows)}")
    return "\n".join(parts)


def hardware(path: Path) -> str:
    """Return what the program's `hardware` line says, - without one."""
    found = re.search(r"^hardware (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "-"


def verdict(path: Path) -> str:
    """Return the verdict that the program expects, as a report prints it."""
    found = re.search(r"^expect (not )?robust\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    return "-" if found is None else "NOT ROBUST" if found[1] else "robust"
