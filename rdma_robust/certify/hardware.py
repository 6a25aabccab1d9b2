"""The events of the model and the program order that RDMA hardware keeps, as the checker knows them.

Written from semantics.md ("Events", "Preserved order") alone: the rest of the tool has a table of its own, on purpose. A
mistake in one of them shows when certificates are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """The kinds of events, initial writes apart."""

    LOCAL_READ = "lR"
    LOCAL_WRITE = "lW"
    SWAP = "CAS"
    POLL = "P"
    PUT_READS = "nlR"
    PUT_WRITES = "nrW"
    GET_READS = "nrR"
    GET_WRITES = "nlW"
    FENCE = "nF"


CPU: Final = frozenset({Kind.LOCAL_READ, Kind.LOCAL_WRITE, Kind.SWAP, Kind.POLL})
READS: Final = frozenset({Kind.LOCAL_READ, Kind.SWAP, Kind.PUT_READS, Kind.GET_READS})
WRITES: Final = frozenset({Kind.LOCAL_WRITE, Kind.SWAP, Kind.PUT_WRITES, Kind.GET_WRITES})
NIC_WRITES: Final = frozenset({Kind.PUT_WRITES, Kind.GET_WRITES})
"""They complete an operation, and may sit in a buffer: every other event is instantaneous."""

_ALL_NIC: Final = frozenset({Kind.PUT_READS, Kind.PUT_WRITES, Kind.GET_READS, Kind.GET_WRITES, Kind.FENCE})

_OBSERVED: Final[Mapping[Kind, frozenset[Kind]]] = {
    Kind.PUT_READS: _ALL_NIC,
    Kind.PUT_WRITES: frozenset({Kind.PUT_WRITES, Kind.GET_READS, Kind.GET_WRITES}),
    Kind.GET_READS: frozenset({Kind.GET_WRITES, Kind.FENCE}),
    Kind.GET_WRITES: frozenset({Kind.GET_WRITES}),
    Kind.FENCE: _ALL_NIC,
}
"""For each NIC event the later ones of its queue pair that cannot be observed before it (oppo)."""

_ONLY_ISSUED: Final = frozenset({(Kind.PUT_WRITES, Kind.FENCE), (Kind.GET_WRITES, Kind.FENCE)})
"""What is kept in issue order (ippo) besides."""


def observed_in_order(earlier: Kind, later: Kind, same_queue: bool, ordered_reads: bool) -> bool:
    """Return whether oppo keeps a program-order edge between events of these kinds, of one queue pair or not."""
    if earlier in CPU:
        return True
    if not same_queue:
        return False
    both_gets = earlier is Kind.GET_READS and later is Kind.GET_READS
    return later in _OBSERVED[earlier] or (ordered_reads and both_gets)


def issued_in_order(earlier: Kind, later: Kind, same_queue: bool, ordered_reads: bool) -> bool:
    """Return whether ippo keeps a program-order edge between events of these kinds, of one queue pair or not."""
    only_issued = same_queue and (earlier, later) in _ONLY_ISSUED
    return only_issued or observed_in_order(earlier, later, same_queue, ordered_reads)
