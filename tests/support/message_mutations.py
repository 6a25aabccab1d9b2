"""The rules for messages, each switched off, and the programs of tests/agreement/messages that notice it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rdma_robust.expr import FALSE, Const
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.messages import TAINTED, Messages, takes_buffer
from rdma_robust.robustness.pivot_classes import PivotClasses
from rdma_robust.robustness.receiving import ReceiveRules
from rdma_robust.robustness.reductions import specialise
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.rules import ForcingRules
from rdma_robust.semantics.trace import EventType

FOLDER: Final = Path(__file__).parents[1] / "agreement" / "messages"

Method = Callable[..., Any]


def _is_poll(edge: EventEdge) -> bool:
    return edge.type is EventType.RP


def _not_forced(which: Callable[[EventEdge], bool]) -> Method:
    original = ForcingRules.taken_forces
    return lambda self, edge: FALSE if which(edge) else original(self, edge)


def _not_tainted(which: Callable[[EventEdge], bool]) -> Method:
    original = Messages.marked
    return lambda self, edge, mark: FALSE if mark == TAINTED and which(edge) else original(self, edge, mark)


MUTATIONS: Final[dict[str, tuple[Any, str, Any, tuple[str, ...]]]] = {
    "S1 of messages": (ForcingRules, "taken_forces", _not_forced(takes_buffer), ("s1-message", "s2-poll", "s5-fence")),
    "S1 of receive completions": (ForcingRules, "taken_forces", _not_forced(_is_poll), ("s1-poll",)),
    "S1 under weaker orders": (ForcingRules, "_told_besides", lambda *_: 0, ("s1-poll",)),
    "S2": (ForcingRules, "receive_forces_poll", lambda _self, _edge: FALSE, ("s2-poll",)),
    "S3 of messages": (Messages, "marked", _not_tainted(takes_buffer), ("s3-message",)),
    "S3 of receive completions": (Messages, "marked", _not_tainted(_is_poll), ("s3-poll", "immediate")),
    "S5": (ForcingRules, "receive_flagged", frozenset(), ("s5-fence",)),
    "pivots that are messages": (ReceiveRules, "closed_by", lambda self, _site: self.closed, ("s3-message",)),
    "pivots that are receives": (PivotClasses, "on_credit", lambda _self, _edge: (), ("credit",)),
    "the filter follows messages": (
        CriticalCycles, "_waiting_for", property(lambda self: (0,) * len(self.events)), ("s3-poll", "immediate"),
    ),
    "dead ends follow messages": (Messages, "taints_of", lambda _self, _edge: (), ("s3-poll",)),
    "queues are marks of taint": (ReceiveRules, "tainted", lambda _self: (), ("immediate",)),
    "messages and receives do not change places": (Messages, "touched", lambda _self, _edge: 0, ("receiver-not-ready",)),
    "registers have immediates": (specialise, "immediate", lambda _edge: Const(0), ("immediate",)),
}  # fmt: skip
"""What is switched off: the class or module, its attribute, what stands for it, and the programs that notice."""

REDUNDANT: Final = ("S3 of messages", "pivots that are messages")
"""What was noticed only where no receive may be the pivot: it is possibly redundant where one may."""
