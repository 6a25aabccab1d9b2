"""The kinds of events: what an order table distinguishes of an event.

That is its type, and whether words that matter to it are in a relaxed region (docs/deployed.md, "Relaxed regions"). The kind
of an event to which no relaxed word matters is its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.semantics.event_table import Agent, acts_of
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, Event, EventType


class RegionKind(NamedTuple):
    """An event of a card to which relaxed words matter: it accesses one (`relaxed`), or it is the answer of a request that
    has read one at the other side (`asked`)."""

    type: EventType
    relaxed: bool
    asked: bool = False


Kind = EventType | RegionKind

NIC_TYPES: Final = tuple(t for t in EventType if t not in CPU_TYPES and t is not EventType.INIT)
_OF_REGIONS: Final = (
    *(RegionKind(t, relaxed=True) for t in NIC_TYPES if t not in FENCE_TYPES),
    *(RegionKind(EventType.NLW, relaxed, asked=True) for relaxed in (False, True)),
)
NIC_KINDS: Final[tuple[Kind, ...]] = (*NIC_TYPES, *_OF_REGIONS)
"""The kinds of the events of cards, types first."""


class KindedEvent(Protocol):
    """An event, or an edge that makes one, as far as its kind is asked for."""

    @property
    def cell(self) -> Cell | None: ...

    @property
    def step(self) -> Step | None: ...


def type_of(kind: Kind) -> EventType:
    return kind.type if isinstance(kind, RegionKind) else kind


def kind_of(event_type: EventType, event: KindedEvent) -> Kind:
    """Return the kind of an event of this type, by its word and the operation of its step."""
    if event_type in CPU_TYPES:
        return event_type
    asked = None if event_type is not EventType.NLW or event.step is None else asked_word(event.step.op)
    return kind_of_words(event_type, event.cell, asked)


def kind_of_words(event_type: EventType, word: Cell | None, asked: Cell | None = None) -> Kind:
    """Return the kind of a card's event on this word; of an answer with what its request has read at the other side."""
    relaxed, asked_relaxed = word is not None and word.relaxed, asked is not None and asked.relaxed
    return RegionKind(event_type, relaxed, asked_relaxed) if relaxed or asked_relaxed else event_type


def asked_word(op: object) -> Cell | None:
    """Return the word that a request reads at the other side, None if it reads none."""
    return next((act.reads[0] for act in acts_of(op) if act.reads and act.agent is Agent.NIC), None)


def kinds_of(events: Sequence[Event]) -> list[Kind]:
    """Return the kinds of the events of a trace."""
    if not any(e.cell is not None and e.cell.relaxed for e in events):
        return [e.type for e in events]
    return [kind_of(e.type, e) for e in events]
