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


Data = tuple[Range, int, int]
"""What a message carries: where it is, its bytes, and those of an element."""


def tell(call: CallContext, what: Telling, peer: str, data: Data | None = None) -> list[ThreadStatement]:
    """Return what tells a process, with a message if there is one."""
    reaches_others(call)
    connection, number = queue_pair(call, peer, _LABEL), _next(call, what, "told", peer)
    found: list[ThreadStatement] = []
    if data is not None:
        found += _carried(call, what, (peer, connection), number, data, late=False)
    return [*found, *_flag(call, what, peer, connection, number, has_data=data is not None)]


def tell_late(
    call: CallContext, what: Telling, peer: str, data: Data, label: str
) -> tuple[str, list[ThreadStatement], list[ThreadStatement]]:
    """Return a queue pair with a label, the puts of a message that is read from memory later, each with a completion there,
    and what tells the process of it."""
    reaches_others(call)
    connection, number = queue_pair(call, peer, label), _next(call, what, "told", peer)
    puts = _carried(call, what, (peer, connection), number, data, late=True)
    signaled = [replace(each, form=each.form.replace(" unsignaled", "")) for each in puts]
    return connection, signaled, _flag(call, what, peer, connection, number, has_data=True)


def _carried(
    call: CallContext, what: Telling, to: tuple[str, str], number: int, data: Data, *, late: bool
) -> list[ThreadStatement]:
    """Return what puts the data of a message to a process, on a queue pair, and say how long it is."""
    (peer, connection), (source, size, element) = to, data
    ends, regions = (call.run.process, peer), call.run.world.found.regions
    key = _length_key(what, ends, number)
    regions[key] = size if regions.get(key, size) == size else None
    carried = _hidden(call, what, ends, number, size=size, part="_data")
    return put(call, Remote(peer, connection, carried, 0), source, size, element, late=late)


def _length_key(what: Telling, ends: tuple[str, str], number: int) -> Hashable:
    return ("length", what.topic, *ends, number)


def _flag(
    call: CallContext, what: Telling, peer: str, connection: str, number: int, *, has_data: bool
) -> list[ThreadStatement]:
    flag = Remote(peer, connection, _hidden(call, what, (call.run.process, peer), number), 0)
    ordered = [ThreadStatement("order {0}", (Queue(connection),))] if has_data else []
    return [*ordered, *put_value(call, flag, 1, _NUMBER, _TOLD)]


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


@dataclass(frozen=True, slots=True)
class NextTelling:
    """The next that a process tells: its subject, and how many it has told before."""

    what: Telling
    peer: str
    number: int


def expect(call: CallContext, what: Telling, peer: str) -> NextTelling:
    """Return what a process tells next; what it tells afterwards is for the next that asks."""
    reaches_others(call)
    return NextTelling(what, peer, _next(call, what, "heard", peer))


def next_of(call: CallContext, what: Telling, peer: str) -> NextTelling:
    """Return what a process tells next, also for the next that asks."""
    return NextTelling(what, peer, call.state.numbers.get(("heard", what.topic, peer), 0))


def hear(call: CallContext, what: Telling, peer: str, data: Data | None = None) -> list[ThreadStatement]:
    """Return what waits until a process tells, and stores the message at a place."""
    return heard(call, expect(call, what, peer), data)


def heard(call: CallContext, expected: NextTelling, data: Data | None = None) -> list[ThreadStatement]:
    """Return what waits for what is expected, and stores the message at a place. Raises RR814 for one of another length."""
    found = [ThreadStatement("await {0} == 1", (_told_word(call, expected),), synchronises=_TOLD)]
    key = _length_key(expected.what, (expected.peer, call.run.process), expected.number)
    if data is not None and call.run.world.known.regions.get(key, data[1]) != data[1]:
        raise Refusal("RR814", f"`{call.name}` of another length than what is sent is not modelled", "the same length")
    return found if data is None else [*found, *_received(call, expected, data)]


def _told_word(call: CallContext, expected: NextTelling) -> Word:
    return Word(_hidden(call, expected.what, (expected.peer, call.run.process), expected.number), 0, 8)


def look_whether_told(call: CallContext, expected: NextTelling) -> tuple[ThreadStatement, Value]:
    """Return what looks whether a process has told, and what is seen, 1 if it has."""
    word = _told_word(call, expected)
    register, value = call.run.read_word(call.state, word, expected.what.name)
    return replace(read_statement(register, word), synchronises=_TOLD), value


def saw_told(call: CallContext, what: Telling, peer: str) -> None:
    """Say that it was seen that a process has told."""
    _next(call, what, "heard", peer)


def _received(call: CallContext, expected: NextTelling, data: Data) -> list[ThreadStatement]:
    run, ((name, offset), size, element) = call.run, data
    ends = expected.peer, run.process
    carried = _hidden(call, expected.what, ends, expected.number, size=size, part="_data")
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
