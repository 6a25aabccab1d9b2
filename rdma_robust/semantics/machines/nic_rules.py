"""The rules by which events of a network card wait, for any order table (docs/model.md, "The machine", has one)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.model import Model
from rdma_robust.semantics.kinds import NIC_TYPES, Kind, kinds_on
from rdma_robust.semantics.order_table import behind_poll, ippo_scope, nfo_between, oppo_scope
from rdma_robust.semantics.trace import EventType


@cache
def kind_bits(memories: tuple[str, ...]) -> Mapping[Kind, int]:
    """Return a bit for each kind of events, where these memories lie behind cards."""
    return {kind: 1 << i for i, kind in enumerate(kinds_on(memories))}


class WaitRule(NamedTuple):
    """What holds back an event of a kind on its queue pair, as sets of kinds; `bit` is its own.

    `issued` are the kinds of which every earlier event must have been issued first (ippo), and `done` those of which every
    earlier one must have taken effect (oppo). `flushed` are the kinds of writes that must have left their buffer (nfo): a
    card's read pushes them out, those to a memory behind the card also out of the buffers of other queue pairs. `polled`
    are the kinds of which every earlier event must have taken effect if it was posted behind a poll of that one's
    completion, and `on_word` those of which every earlier one on its word must have (and so is issued: the read of an
    atomic waits, and its write for that). Reads and fences are issued and take effect at once, a write when it leaves its
    buffer.
    """

    bit: int
    issued: int
    done: int
    flushed: int
    polled: int = 0
    on_word: int = 0


@cache
def nic_rules(model: Model, memories: tuple[str, ...] = ()) -> Mapping[Kind, WaitRule]:
    """Return the rules of a model, where these memories lie behind cards.

    Raises UsageError for one that the machine cannot run: its CPUs take effect at once and do not wait for the card.
    """
    for t in NIC_TYPES:
        for scope in (ippo_scope, oppo_scope):
            if scope(EventType.LR, t, model) != "all" or scope(t, EventType.LR, model) != "-":
                raise UsageError(f"the RDMA machine does not know this model: {model}")
    bits = kind_bits(memories)
    return {later: _waits(later, bits, model) for later in bits}


def _waits(later: Kind, bits: Mapping[Kind, int], model: Model) -> WaitRule:
    def among(kept: Callable[[Kind], bool]) -> int:
        return sum(bit for earlier, bit in bits.items() if kept(earlier))

    ordered = behind_poll(model)
    return WaitRule(
        bits[later],
        among(lambda earlier: ippo_scope(earlier, later, model) == "qp"),
        among(lambda earlier: oppo_scope(earlier, later, model) == "qp"),
        among(lambda other: nfo_between(other, later, model)),
        among(lambda earlier: ordered is not None and oppo_scope(earlier, later, ordered) == "qp"),
        among(lambda earlier: oppo_scope(earlier, later, model) == "word"),
    )
