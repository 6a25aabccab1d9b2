"""A look ahead of the kernel that is asked state by state, outside of a search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from rdma_robust.counters.kernel import driver
from rdma_robust.counters.pruner import LookAheadTables


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
    if not driver.AVAILABLE:
        return None
    from rdma_robust.counters.kernel._look_ahead import Look  # noqa: PLC0415 - where it is installed

    look = Look(1, [(0, 0, 0, 0)] * len(fields), list(last), *tables)
    for process in anywhere:
        look.stand_anywhere(process)
    return look
