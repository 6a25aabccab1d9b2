"""The compiled look ahead for control states that are searched in Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rdma_robust.counters.pruner import LookAheadTables

try:
    from rdma_robust.counters.kernel._look_ahead import Look as _Look
except ImportError:
    AVAILABLE = False
else:
    AVAILABLE = hasattr(_Look, "dead")
"""Whether the extension module is there and built from this version."""


class CompiledLookAhead(Protocol):
    """A look ahead that is asked state by state."""

    def dead(self, state: Sequence[int], gone: int) -> bool:
        """Whether no target can be reached from a control state of some kind; the processes in the set `gone` are gone too.

        Raises OverflowError for a value of more than 64 bits.
        """
        ...


def compiled_look(
    fields: Sequence[str], last: Sequence[int], tables: LookAheadTables, anywhere: Iterable[int] = ()
) -> CompiledLookAhead | None:
    """Return the look ahead of these tables, None where the extension module is not installed.

    `last` is the largest location of each process; those in `anywhere` stand at all of their locations.
    """
    if not AVAILABLE:
        return None
    look = _Look(1, [(0, 0, 0, 0)] * len(fields), list(last), *tables)
    for process in anywhere:
        look.stand_anywhere(process)
    return look
