"""Where a process is while it is unrolled, and how two paths of it meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from rdma_robust.messages.encoding.evaluation import Held, merged
from rdma_robust.messages.encoding.symbolic_terms import Symbol, Symbols
from rdma_robust.messages.encoding.unrolled import NotEncodedError


@dataclass(frozen=True, slots=True)
class PendingOperation:
    """An operation that is waited for, and where the wait stores: the names and indices of target, sender and tag."""

    kind: Literal["send", "receive"]
    number: int
    value: Held | None = None
    target: tuple[str, tuple[Symbol, ...]] | None = None
    sender: tuple[str, tuple[Symbol, ...]] | None = None
    which: tuple[str, tuple[Symbol, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """Which operation is waited for under which condition, of those that exclude each other; else none."""

    active: tuple[tuple[Symbol, PendingOperation], ...] = ()


INACTIVE: Final = Request()
Requests = Request | tuple["Requests", ...] | None
"""A request or an array of them; None if paths do not agree on its length."""


@dataclass(slots=True)
class PathState:
    """Where a process is: `guard` says when it gets here. `sent`, `received` and `called` count what it has done."""

    guard: Symbol
    registers: dict[str, Held]
    requests: dict[str, Requests]
    sent: Symbol
    received: Symbol
    called: Symbol

    def copy(self, guard: Symbol) -> PathState:
        return PathState(guard, dict(self.registers), dict(self.requests), self.sent, self.received, self.called)


def joined(symbols: Symbols, entry: Symbol | None, test: Symbol, a: PathState, b: PathState) -> PathState:
    """Return where two paths from a point with the guard `entry` meet: `a` is taken where `test` holds.

    Both guards imply `entry`; so that it can be seen, it stays a conjunct where a path may have stopped on its way.
    """
    if a.guard is symbols.false:
        return b
    if b.guard is symbols.false:
        return a
    if (
        entry is not None
        and a.guard is symbols.conjunction(entry, test)
        and b.guard is symbols.conjunction(entry, symbols.negation(test))
    ):
        guard = entry
    else:
        either = symbols.disjunction(a.guard, b.guard)
        guard = either if entry is None else symbols.conjunction(entry, either)
    registers = {name: merged(symbols, test, held, b.registers[name]) for name, held in a.registers.items()}
    requests = {name: merged_requests(symbols, test, held, b.requests[name]) for name, held in a.requests.items()}
    sent, received = symbols.choice_of(test, a.sent, b.sent), symbols.choice_of(test, a.received, b.received)
    called = symbols.choice_of(test, a.called, b.called)
    return PathState(guard, registers, requests, sent, received, called)


def merged_requests(symbols: Symbols, test: Symbol, a: Requests, b: Requests) -> Requests:
    """Return `a` where `test` holds, else `b`; None where arrays have different lengths, or one is none."""
    if a is b or a == b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple([merged_requests(symbols, test, one, other) for one, other in zip(a, b, strict=True)])
    if not isinstance(a, Request) or not isinstance(b, Request):
        return None
    found: dict[int, tuple[Symbol, PendingOperation]] = {}
    for side, request in ((test, a), (symbols.negation(test), b)):
        for condition, operation in request.active:
            here = symbols.conjunction(side, condition)
            before = found.get(id(operation), (symbols.false, operation))[0]
            found[id(operation)] = (symbols.disjunction(before, here), operation)
    return Request(tuple(found.values()))


def leaves(requests: Requests, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Request]]:
    """Yield all requests of an array with their indices, in order; one that is no array has none. Raises NotEncodedError."""
    if requests is None:
        raise NotEncodedError("an array of requests whose length differs between paths")
    if isinstance(requests, Request):
        yield at, requests
    else:
        for index, inner in enumerate(requests):
            yield from leaves(inner, (*at, index))
