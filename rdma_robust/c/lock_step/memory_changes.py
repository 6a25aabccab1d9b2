"""Differences in memory between two states of one process."""

from __future__ import annotations

from rdma_robust.c.evaluate.c_values import Object
from rdma_robust.c.evaluate.state import State

Change = tuple[Object, int, int]
"""Object, offset and size of a value."""


def memory_changes(before: State, after: State) -> list[Change]:
    """Return the memory in which two states differ."""
    found: list[Change] = []
    for name, block in after.memory.items():
        old = before.memory.get(name)
        if old is None or old is block or old.key() == block.key():
            continue
        places = {(at, size) for at, (size, _) in (*old.cells.items(), *block.cells.items())}
        found += [(name, at, size) for at, size in places if old.read(at, size, "") != block.read(at, size, "")]
    return found
