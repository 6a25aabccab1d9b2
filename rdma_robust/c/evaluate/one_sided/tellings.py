"""Hidden words by which one process tells another one that it has come somewhere, and what a message carries.

Each telling has a word of its own, written once, on queue pairs of their own: it says nothing of transfers under way.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Object, Value
from rdma_robust.c.evaluate.calls import CallContext
from rdma_robust.c.evaluate.one_sided.spmd import queue_pair, reaches_others
from rdma_robust.c.evaluate.one_sided.transfers import Range, Remote, put, put_value
from rdma_robust.c.evaluate.operations import Queue, ThreadStatement, Word, read_statement
from rdma_robust.c.evaluate.refused_code import Refusal

_LABEL: Final = "told_"
_TOLD: Final = "telling"
_NUMBER: Final = CType("int", 8, signed=True)
MANY: Final = 8
"""How many times more messages and requests of a library are followed than completions of one queue pair."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A subject that processes tell each other about, `topic`, and the name of its words."""

    topic: Hashable
    name: str


def _next(call: CallContext, what: Telling, direction: str, peer: str) -> int:
    key = (direction, what.topic, peer)
    number = call.state.numbers.get(key, 0)
    limit = MANY * call.run.world.options.waiting
    if number >= limit:
        raise Refusal(
            "RR817", f"more than {limit} calls of `{call.name}` for one process are not followed", "a bound for loops"
        )
    call.state.numbers[key] = number + 1
    return number


def _hidden(
    call: CallContext, what: Telling, ends: tuple[str, str], number: int, *, size: int = 8, part: str = ""
) -> Object:
    sender, receiver = ends
    name = Object("handle", receiver, f"{what.name}{part}", ("telling", what.topic, sender, number, part))
    call.run.world.sizes[name] = max(size, call.run.world.sizes.get(name, 0))
    return name


def tell(call: CallContext, what: Telling, peer: str, data: tuple[Range, int, int] | None = None) -> list[ThreadStatement]:
    """Return what tells a process, with a message if there is one: where it is, its bytes, and those of an element."""
    reaches_others(call)
    own, connection = call.run.process, queue_pair(call, peer, _LABEL)
    number = _next(call, what, "told", peer)
    found: list[ThreadStatement] = []
    if data is not None:
        source, size, element = data
        carried = _hidden(call, what, (own, peer), number, size=size, part="_data")
        found += put(call, Remote(peer, connection, carried, 0), source, size, element, late=False)
        found.append(ThreadStatement("order {0}", (Queue(connection),)))
    flag = Remote(peer, connection, _hidden(call, what, (own, peer), number), 0)
    return [*found, *put_value(call, flag, 1, _NUMBER, _TOLD)]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that one process gives another one: where they go in its memory, where they are, and how many."""

    target: Range
    source: Range
    size: int


def deliver(call: CallContext, what: Telling, peer: str, pieces: Sequence[Piece], element: int) -> list[ThreadStatement]:
    """Return what puts bytes into memory of a process, and then tells it so; `element` is the size of an element."""
    connection = queue_pair(call, peer, _LABEL)
    found: list[ThreadStatement] = []
    for each in pieces:
        found += put(call, Remote(peer, connection, *each.target), each.source, each.size, element, late=False)
    return [*found, ThreadStatement("order {0}", (Queue(connection),)), *tell(call, what, peer)]


def hear(call: CallContext, what: Telling, peer: str, data: tuple[Range, int, int] | None = None) -> list[ThreadStatement]:
    """Return what waits until a process tells, and stores the message at a place."""
    reaches_others(call)
    number = _next(call, what, "heard", peer)
    word = Word(_hidden(call, what, (peer, call.run.process), number), 0, 8)
    found = [ThreadStatement("await {0} == 1", (word,), synchronises=_TOLD)]
    if data is not None:
        found += _received(call, what, peer, number, data)
    return found


def look_whether_told(call: CallContext, what: Telling, peer: str) -> tuple[ThreadStatement, Value]:
    """Return what looks whether a process has told, and what is seen, 1 if it has; :func:`saw_told` is for that."""
    number = call.state.numbers.get(("heard", what.topic, peer), 0)
    word = Word(_hidden(call, what, (peer, call.run.process), number), 0, 8)
    register, value = call.run.read_word(call.state, word, what.name)
    return replace(read_statement(register, word), synchronises=_TOLD), value


def saw_told(call: CallContext, what: Telling, peer: str) -> None:
    """Say that it was seen that a process has told."""
    _next(call, what, "heard", peer)


def _received(
    call: CallContext, what: Telling, peer: str, number: int, data: tuple[Range, int, int]
) -> list[ThreadStatement]:
    run, ((name, offset), size, element) = call.run, data
    carried = _hidden(call, what, (peer, run.process), number, size=size, part="_data")
    found: list[ThreadStatement] = []
    values: list[tuple[Word, Value]] = []
    taken: list[str] = []
    step = element if 1 < element <= 8 else 8
    for word in run.world.words(carried, 0, size, range(step, size, step)):
        register, raw = run.read_word(call.state, word, name.name, taken)
        taken.append(register)
        found.append(read_statement(register, word))
        values.append((word, raw))
    for word, raw in values:
        kind = CType("int", word.size)
        found += run.store(call.state, call.frame, name, offset + word.offset, kind=kind, value=raw)
    return found
