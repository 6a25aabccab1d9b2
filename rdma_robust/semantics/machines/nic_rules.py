"""The rules by which events of a network card wait, for any order table (docs/model.md, "The machine", has one)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.model import Model
from rdma_robust.semantics.kinds import NIC_KINDS, NIC_TYPES, Kind
from rdma_robust.semantics.order_table import behind_poll, ippo_scope, nfo_between, oppo_scope
from rdma_robust.semantics.trace import EventType

BITS: Final[Mapping[Kind, int]] = {kind: 1 << i for i, kind in enumerate(NIC_KINDS)}


class WaitRule(NamedTuple):
    """What holds back an event of a kind on its queue pair, as sets of kinds; `bit` is its own.

    `issued` are the kinds of which every earlier event must have been issued first (ippo), and `done` those of which every
    earlier one must have taken effect (oppo). `flushed` are the kinds of writes that must have left their buffer (nfo): a
    card's read pushes them out. `polled` are the kinds of which every earlier event must have taken effect if it was posted
    behind a poll of that one's completion, and `on_word` those of which every earlier one on its word must have (and so is
    issued: the read of an atomic waits, and its write for that). Reads and fences are issued and take effect at once, a
    write when it leaves its buffer.
    """

    bit: int
    issued: int
    done: int
    flushed: int
    polled: int = 0
    on_word: int = 0


@cache
def nic_rules(model: Model) -> Mapping[Kind, WaitRule]:
    """Return the rules of a model.

    Raises UsageError for one that the machine cannot run: its CPUs take effect at once and do not wait for the card.
    """
    for t in NIC_TYPES:
        for scope in (ippo_scope, oppo_scope):
            if scope(EventType.LR, t, model) != "all" or scope(t, EventType.LR, model) != "-":
                raise UsageError(f"the RDMA machine does not know this model: {model}")
    return {later: _waits(later, model) for later in NIC_KINDS}


def _waits(later: Kind, model: Model) -> WaitRule:
    def among(kept: Callable[[Kind], bool]) -> int:
        return sum(bit for earlier, bit in BITS.items() if kept(earlier))

    ordered = behind_poll(model)
    return WaitRule(
        BITS[later],
        among(lambda earlier: ippo_scope(earlier, later, model) == "qp"),
        among(lambda earlier: oppo_scope(earlier, later, model) == "qp"),
        among(lambda other: nfo_between(other, later, model)),
        among(lambda earlier: ordered is not None and oppo_scope(earlier, later, ordered) == "qp"),
        among(lambda earlier: oppo_scope(earlier, later, model) == "word"),
    )
