"""States of a closed run of a function: its processes, channels, and the calls that not all processes have left.

A state has all that clauses can ask of the past: who has entered and left which call, what those had who entered, what was
sent into a call by who has left it, and by how much the messages sent before a call exceed those taken before it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeVar

from rdma_robust.contracts.language.path_worth import LocalPathClause
from rdma_robust.messages.language.message_terms import Value
from tests.support.contracts_oracle.local_steps import Local
from tests.support.contracts_oracle.message_channels import Channels

Kind = tuple[int, int, int, int]
"""Sender, receiver, port and tag of messages."""

Place = tuple[Literal["enter", "exit"], str]
"""What a process passes: an element of its sequence of collates."""


Item = TypeVar("Item")


class Entry(NamedTuple):
    """What a process has when it enters a call: parameters and globals, in their order."""

    parameters: tuple[Value, ...]
    globals: tuple[Value, ...]


class Open(NamedTuple):
    """A call that not all processes have left; the first of a state is that of the function itself.

    `entries` and `surplus` are kept until all have entered; `surplus` has for each kind of messages how many its sender had
    sent before it entered minus how many its receiver had taken before it entered, where that is not 0. `quiet` are the
    `quiet from` of each process that entered, `early` the messages sent since by processes that have left to those that have
    not.
    """

    name: str
    entered: tuple[bool, ...]
    exited: tuple[bool, ...]
    entries: tuple[Entry | None, ...]
    surplus: tuple[tuple[Kind, int], ...]
    quiet: tuple[tuple[LocalPathClause, ...], ...]
    early: frozenset[Kind] = frozenset()


class State(NamedTuple):
    """A state. `ahead` has for each process what it has passed and not all have: first the next place of the slowest."""

    locals: tuple[Local, ...]
    channels: Channels
    calls: tuple[Open, ...]
    ahead: tuple[tuple[Place, ...], ...]


def with_item(items: tuple[Item, ...], at: int, new: Item) -> tuple[Item, ...]:
    """Return `items` with another one at a place."""
    return (*items[:at], new, *items[at + 1 :])


def changed_surplus(surplus: tuple[tuple[Kind, int], ...], kind: Kind, by: int) -> tuple[tuple[Kind, int], ...]:
    """Return a surplus with another number for one kind of messages."""
    found = dict(surplus)
    found[kind] = found.get(kind, 0) + by
    return tuple(sorted((each, number) for each, number in found.items() if number))


def in_flight(state: State) -> tuple[tuple[Kind, int], ...]:
    """Return how many messages of each kind were sent and not taken: one that is matched is taken at its wait."""
    found: tuple[tuple[Kind, int], ...] = ()
    for me, local in enumerate(state.locals):
        for each in local.pending.posted:
            if each.got is not None:
                found = changed_surplus(found, (each.got[1], me, each.port, each.got[2]), 1)
    for channel, messages in state.channels:
        for message in messages:
            found = changed_surplus(found, (*channel, message.tag), 1)
    return found
