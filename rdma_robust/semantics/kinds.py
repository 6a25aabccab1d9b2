"""The kinds of events: what an order table distinguishes of an event.

That is its type, whether words that matter to it are in a relaxed region, in which memory of a card they are
(docs/memory-regions.md, "Relaxed regions" and "Memory behind a NIC"), and whether it is of a send, or of an atomic that
fetches nothing, of which a table may say something else (docs/order-files.md, "The format"). The kind of an event to which
only plain words matter, and that is of no such operation, is its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Cell, RemoteRmw, Send, Step
from rdma_robust.semantics.event_table import Agent, acts_of
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, EventType


class WordKind(NamedTuple):
    """An event of a card that is a `variant` of its type, of a send (nlR or nrW) or of an atomic that fetches nothing (naR,
    naW or nA), or to which words that are not plain matter: its own, which may be `relaxed` and in a `memory` behind the
    card, or, as it is the answer of a request, that which this has read at the other side: `asked`, in `asked_memory`."""

    type: EventType
    relaxed: bool = False
    asked: bool = False
    memory: str = ""
    asked_memory: str = ""
    variant: bool = False


Kind = EventType | WordKind

SENT_TYPES: Final = (EventType.NLR, EventType.NRW)
"""The types of the events that a card makes for a send."""

UPDATE_TYPES: Final = (EventType.NAR, EventType.NAW, EventType.NA)
"""The types of the events of atomics, also of those that fetch nothing."""

NIC_TYPES: Final = tuple(t for t in EventType if t not in CPU_TYPES and t is not EventType.INIT)


def kinds_on(memories: Iterable[str]) -> tuple[Kind, ...]:
    """Return the kinds of the events of cards with these memories behind them, types first."""
    places = [(relaxed, memory) for memory in ("", *memories) for relaxed in (False, True)]
    own = (WordKind(t, relaxed, memory=memory) for t in NIC_TYPES if t not in FENCE_TYPES for relaxed, memory in places[1:])
    variants = (
        WordKind(t, relaxed, memory=memory, variant=True) for t in (*SENT_TYPES, *UPDATE_TYPES) for relaxed, memory in places
    )
    answers = (
        WordKind(EventType.NLW, relaxed, asked, memory, asked_memory)
        for asked, asked_memory in places[1:]
        for relaxed, memory in places
    )
    return (*NIC_TYPES, *own, *answers, *variants)


NIC_KINDS: Final[tuple[Kind, ...]] = kinds_on(())
"""The kinds of the events of cards without memory behind them."""


class KindedEvent(Protocol):
    """An event, or an edge that makes one, as far as its kind is asked for."""

    @property
    def cell(self) -> Cell | None: ...

    @property
    def step(self) -> Step | None: ...


def type_of(kind: Kind) -> EventType:
    return kind.type if isinstance(kind, WordKind) else kind


def memory_of(kind: Kind) -> str:
    """Return the memory behind a card that the word of an event is in; none of a name for any other."""
    return kind.memory if isinstance(kind, WordKind) else ""


def is_relaxed(kind: Kind) -> bool:
    """Return whether the word of an event is in a relaxed region."""
    return isinstance(kind, WordKind) and kind.relaxed


def kind_of(event_type: EventType, event: KindedEvent) -> Kind:
    """Return the kind of an event of this type, by its word and the operation of its step."""
    if event_type in CPU_TYPES:
        return event_type
    asked = None if event_type is not EventType.NLW or event.step is None else asked_word(event.step.op)
    return kind_of_words(
        event_type, event.cell, asked, variant=event.step is not None and makes_variant(event_type, event.step.op)
    )


def kind_of_words(event_type: EventType, word: Cell | None, asked: Cell | None = None, *, variant: bool = False) -> Kind:
    """Return the kind of a card's event on this word, which may be a variant of its type; of an answer with what its request
    has read at the other side."""
    (relaxed, memory), (asked_relaxed, asked_memory) = _place(word), _place(asked)
    kind = WordKind(event_type, relaxed, asked_relaxed, memory, asked_memory, variant)
    return event_type if kind == WordKind(event_type) else kind


def is_send(op: object) -> bool:
    """Return whether an operation is a send: an immediate comes with a put, and is as that."""
    return isinstance(op, Send) and not op.put


def is_update(op: object) -> bool:
    """Return whether an operation is a remote atomic that fetches nothing, which libfabric counts among writes.

    One without an answer that compares is none: it fetches, whatever is done with what it has read.
    """
    return isinstance(op, RemoteRmw) and op.target is None and op.when == TRUE


def makes_variant(event_type: EventType, op: object) -> bool:
    """Return whether the event of this type that a card makes for an operation is a variant of the type."""
    return is_send(op) if event_type in SENT_TYPES else event_type in UPDATE_TYPES and is_update(op)


def as_variant(kind: Kind) -> Kind:
    """Return the kind of the event of a send where that of a put is this one, and so of atomics."""
    return kind._replace(variant=True) if isinstance(kind, WordKind) else WordKind(kind, variant=True)


def is_variant(kind: Kind) -> bool:
    """Return whether the event is one that a card makes for a send, or for an atomic that fetches nothing."""
    return isinstance(kind, WordKind) and kind.variant


def _place(word: Cell | None) -> tuple[bool, str]:
    return (False, "") if word is None else (word.relaxed, word.memory)


def asked_word(op: object) -> Cell | None:
    """Return the word that a request reads at the other side, None if it reads none."""
    return next((act.reads[0] for act in acts_of(op) if act.reads and act.agent is Agent.NIC and not act.operand), None)


class TypedEvent(KindedEvent, Protocol):
    """An event with its type."""

    @property
    def type(self) -> EventType: ...


def kinds_of(events: Sequence[TypedEvent]) -> list[Kind]:
    """Return the kinds of events, as those of a trace."""
    return [kind_of(e.type, e) for e in events]
