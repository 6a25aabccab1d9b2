"""Windows of MPI: transfers and accumulates, and what completes them.

Requests have no completion unless the program completes some of the window locally: then each has one, and what completes
it here polls them all. A request that MPI_Wait waits for has a queue pair of its own where the standard is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from rdma_robust.c.evaluate.c_values import Object
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.mpi.accumulates_under_way import accumulated, accumulates_completed
from rdma_robust.c.evaluate.mpi.datatypes import Datatype, ElementRun, datatype, elements, transfer_pieces
from rdma_robust.c.evaluate.mpi.handles import process_of_rank
from rdma_robust.c.evaluate.mpi.window_memory import WINDOW_MEMORY, Window, memory_at, window
from rdma_robust.c.evaluate.one_sided.spmd import (
    barrier,
    completed,
    connections_under_way,
    mark_outstanding,
    queue_pair,
    reaches_others,
    store_handle,
)
from rdma_robust.c.evaluate.one_sided.tellings import MANY
from rdma_robust.c.evaluate.one_sided.transfers import Operands, Remote, accumulate, get, polls, put
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import OPERATIONS

_CAS: Final = "cas"
_EMPTY: Final = 0
"""A request of nothing."""


# transfers


def _is_local(call: CallContext, of: Window) -> bool:
    """Whether the program completes requests of a window locally."""
    return ("local", of.number) in call.run.world.known.said


def _remote(call: CallContext, of: Window, rank: int, there: Sequence[ElementRun]) -> Remote | None:
    """Return the other end of a transfer of elements that lie `there`, None for `MPI_PROC_NULL`, or if there are none;
    the argument behind the rank is the displacement. Its queue pair is chosen by :func:`_on`.

    Raises RR813 outside of the window."""
    peer = process_of_rank(call, rank, of.processes)
    reaches_others(call)
    if peer is None or not there:
        return None
    extent = min(each.offset for each in there), max(each.offset + each.size for each in there)
    return Remote(peer, "", *memory_at(call, of, peer, rank + 1, extent))


def _on(call: CallContext, of: Window, remote: Remote, label: str) -> Remote:
    """Return the other end of a transfer on the queue pair with a label, where something is under way from now on."""
    connection = queue_pair(call, remote.process, f"{of.label}{label}")
    mark_outstanding(call, connection, of.group)
    return replace(remote, connection=connection)


def _posted(call: CallContext, of: Window, remote: Remote, statements: list[ThreadStatement]) -> list[ThreadStatement]:
    """Return requests as they are posted: each with a completion, if the program completes some locally."""
    if not _is_local(call, of):
        return statements
    key = ("completions", remote.connection)
    number = call.state.numbers.get(key, 0) + len(statements)
    limit = MANY * call.run.world.options.waiting
    if number > limit:
        raise Refusal("RR817", f"more than {limit} completions wait here, and their number has no bound", "MPI_Win_flush")
    call.state.numbers[key] = number
    return [replace(each, form=each.form.replace(" unsignaled", "")) for each in statements]


_Posted = tuple[list[ThreadStatement], Remote | None]
"""What a call posts, and where; nothing for `MPI_PROC_NULL`."""


def _moved(is_put: bool) -> Callable[[CallContext, str], _Posted]:
    """`MPI_Put`, `MPI_Get`: buffer, count, type, rank, displacement, count and type there, window."""

    def post(call: CallContext, apart: str) -> _Posted:
        of = window(call, 7)
        here, there = _laid_out(call, 2, 1), _laid_out(call, 6, 5)
        pieces = transfer_pieces(here, there)
        remote = _remote(call, of, 3, there)
        if remote is None:
            return [], None
        remote = _on(call, of, remote, apart)
        move, (name, offset) = put if is_put else get, call.address(0, "the buffer")
        found: list[ThreadStatement] = []
        for each in pieces:
            local = (name, offset + each.here)
            found += move(call, remote.further(each.there), local, each.size, each.element, late=True)
        return _posted(call, of, remote, found), remote

    return post


def _laid_out(call: CallContext, type_at: int, count_at: int | None) -> list[ElementRun]:
    return datatype(call, type_at).laid_out(1 if count_at is None else call.number(count_at, "the number of elements"))


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A buffer of an accumulate: the arguments that are its address, type, and number of elements, one if there is none."""

    address: int
    type: int
    count: int | None = None

    def operands(self, call: CallContext) -> list[tuple[Object, int, int]]:
        """Return its elements one by one: object, offset and size."""
        name, offset = call.address(self.address, "a buffer of this accumulate")
        found = elements(_laid_out(call, self.type, self.count))
        return [(name, offset + each.offset, each.element.size) for each in found]


@dataclass(frozen=True, slots=True)
class _Accumulate:
    """An accumulate: its operands, where the answer goes, and the arguments that are rank (displacement behind it), type and
    number of elements there, operation, and window."""

    operands: tuple[_Buffer, ...]
    answer: _Buffer | None
    rank: int
    type: int
    count: int | None
    operation: int | None
    window: int

    def __call__(self, call: CallContext, apart: str) -> _Posted:
        of, kind = window(call, self.window), datatype(call, self.type)
        there = _laid_out(call, self.type, self.count)
        remote = _remote(call, of, self.rank, there)
        if remote is None:
            return [], None
        operation = _CAS if self.operation is None else _operation(call, self.operation, kind)
        if operation == "fetch" and self.answer is None:
            return [], None
        operands = [each.operands(call) for each in self.operands] if operation != "fetch" else []
        answers = None if self.answer is None else self.answer.operands(call)
        places = elements(there)
        if any(len(each) != len(places) for each in (*operands, *([] if answers is None else [answers]))):
            raise Refusal(
                "RR814", "an accumulate of other lengths at its two ends is not modelled", "the same count and type"
            )
        ends = _ends(call, of, [(remote.further(each.offset), each.predefined) for each in places], apart)
        found: list[ThreadStatement] = []
        for index, (each, end) in enumerate(zip(places, ends, strict=True)):
            what = Operands(operation, tuple(one[index] for one in operands), f"MPI_{each.predefined}")
            posted = accumulate(call, end, what, None if answers is None else answers[index])
            found += _posted(call, of, end, posted)
        return found, ends[0]


def _ends(call: CallContext, of: Window, places: Sequence[tuple[Remote, str]], apart: str) -> list[Remote]:
    """Return the other ends of an accumulate of words, each with its predefined type, on their queue pairs.

    The standard keeps accumulates of one origin on one location in order, for each type (MPI 4.1, 12.7.2), those with
    requests too: each type has a queue pair where that is asked about. A request has one of its own, `apart`, unless others
    accumulate there, or where that does not matter. Raises RR814 for one whose words have several types then.
    """
    world = call.run.world
    if not world.options.is_of_standard:
        return [_on(call, of, place, apart) for place, _ in places]
    keys = [("accumulated at", of.number, call.run.process, name, place.object, place.offset) for place, name in places]
    if world.options.is_about_races:
        ends = [_on(call, of, place, apart or _label_of(call, of, name)) for place, name in places]
        accumulated(call, keys, [end.connection for end in ends])
        return ends
    world.found.said.update((*key, apart) for key in keys)
    among = {
        each[:-1]
        for each in world.known.said
        if isinstance(each, tuple) and each[0] == "accumulated at" and each[-1] != apart
    }
    if apart and not among.intersection(keys):
        return [_on(call, of, place, apart) for place, _ in places]
    if apart and len({name for _, name in places}) > 1:
        raise Refusal(
            "RR814",
            "a request for accumulates of several types where others accumulate is not modelled",
            "MPI_Accumulate and MPI_Win_flush",
        )
    return [_on(call, of, place, _label_of(call, of, name)) for place, name in places]


def _label_of(call: CallContext, of: Window, name: str) -> str:
    """Return the label of the queue pair for accumulates of a predefined type: the first type has that of the window."""
    world = call.run.world
    world.found.said.add(("accumulated", of.number, name))
    known = [each[2] for each in world.known.said if isinstance(each, tuple) and each[:2] == ("accumulated", of.number)]
    return "" if name == min(known, default=name) else f"{name.lower()}_"


def _operation(call: CallContext, index: int, kind: Datatype) -> str:
    number = call.number(index, "the operation")
    if not 1 <= number <= len(OPERATIONS):
        raise Refusal("RR814", "this operation is not modelled", "a predefined one, or MPI_Compare_and_swap")
    operation, is_pair = OPERATIONS[number - 1], all(each.pair.endswith("INT") for each in kind.runs)
    if operation not in ("REPLACE", "NO_OP") and is_pair != (operation in ("MAXLOC", "MINLOC")):
        raise Refusal(
            "RR818",
            "an accumulate has no such operation of this type",
            "MPI_MAXLOC and MPI_MINLOC of pairs as MPI_2INT, the others of numbers, MPI_REPLACE and MPI_NO_OP of both",
        )
    if is_pair:
        message = "an accumulate of a pair, as of MPI_2INT, is taken as one for each number of it, in address order"
        call.run.world.remark("RR846", message, call.chain)
    if operation == "SUM":
        return "mix" if kind.basic.element.kind == "float" else "faa"
    return {"REPLACE": "swap", "NO_OP": "fetch"}.get(operation, "mix")


def _transfer(post: Callable[[CallContext, str], _Posted]) -> Handler:
    def handler(call: CallContext) -> Result:
        return _ended(call, post(call, "")[0])

    return handler


def _request(post: Callable[[CallContext, str], _Posted], window_at: int) -> Handler:
    """A transfer with a request that MPI_Wait waits for: the argument behind the window."""

    def handler(call: CallContext) -> Result:
        call.run.world.found.said.add(("local", window(call, window_at).number))
        used = {key[2] for key in call.state.numbers if isinstance(key, tuple) and key[0] == "request"}
        slot = next(number for number in count(1) if number not in used)
        apart = f"request{slot}_" if call.run.world.options.is_of_standard else ""
        found, remote = post(call, apart)
        if remote is None:
            call.set_private(call.arguments[-1], 8, _EMPTY, "this request")
            return 0
        numbers = call.state.numbers
        numbers["request", remote.connection, slot] = numbers.get(("completions", remote.connection), 0)
        store_handle(call, call.arguments[-1], "request", (remote.connection, slot, len(found)))
        return call.step(found)

    return handler


# completion


def done(call: CallContext, of: Window, peer: str | None = None) -> list[ThreadStatement]:
    """Return what waits for all requests of a window, towards one process or all."""
    polled = local_completion(call, of, peer)
    return [*completed(call, [of.group], peer), *polled]


def local_completion(call: CallContext, of: Window, peer: str | None = None) -> list[ThreadStatement]:
    """Return the polls that wait for the local completion of all requests of a window, towards one process or all."""
    found: list[ThreadStatement] = []
    for connection in connections_under_way(call, [of.group], peer):
        found += polled(call, connection, call.state.numbers.get(("completions", connection), 0))
    return found


def polled(call: CallContext, connection: str, number: int) -> list[ThreadStatement]:
    """Return the polls of so many completions. Of each request is known how many there are up to its own."""
    numbers, key = call.state.numbers, ("completions", connection)
    left = numbers.pop(key, 0) - number
    if left:
        numbers[key] = left
    else:
        accumulates_completed(call, connection)
    for each in [one for one in numbers if isinstance(one, tuple) and one[:2] == ("request", connection)]:
        numbers[each] = max(numbers[each] - number, 0)
    return polls(connection, number)


def _ended(call: CallContext, found: list[ThreadStatement]) -> Result:
    return call.step(found) if found else 0


def _flush(call: CallContext) -> Result:
    of = window(call, 1)
    return _ended(call, done(call, of, process_of_rank(call, 0, of.processes)))


def _flush_all(call: CallContext) -> Result:
    return _ended(call, done(call, window(call, 0)))


def _flush_local(window_at: int) -> Handler:
    def handler(call: CallContext) -> Result:
        of = window(call, window_at)
        call.run.world.found.said.add(("local", of.number))
        peer = process_of_rank(call, 0, of.processes) if window_at else None
        return _ended(call, local_completion(call, of, peer))

    return handler


def _fence(call: CallContext) -> Result:
    of = window(call, 1)
    return barrier(call, done(call, of), of.processes)


_POSTS: Final[dict[str, tuple[Callable[[CallContext, str], _Posted], int]]] = {
    "Put": (_moved(is_put=True), 7),
    "Get": (_moved(is_put=False), 7),
    "Accumulate": (_Accumulate((_Buffer(0, 2, 1),), None, 3, 6, 5, 7, 8), 8),
    "Get_accumulate": (_Accumulate((_Buffer(0, 2, 1),), _Buffer(3, 5, 4), 6, 9, 8, 10, 11), 11),
}
"""Transfers that have a form with a request too, with the argument that is the window."""
_ATOMICS: Final = {
    "Fetch_and_op": _Accumulate((_Buffer(0, 2),), _Buffer(1, 2), 3, 2, None, 5, 6),
    "Compare_and_swap": _Accumulate((_Buffer(1, 3), _Buffer(0, 3)), _Buffer(2, 3), 4, 3, None, None, 6),
}
WINDOWS: Final[dict[str, Callable[[CallContext], Result]]] = {
    **WINDOW_MEMORY,
    **{f"MPI_{name}": _transfer(post) for name, (post, _) in _POSTS.items()},
    **{f"MPI_R{name.lower()}": _request(post, window_at) for name, (post, window_at) in _POSTS.items()},
    **{f"MPI_{name}": _transfer(post) for name, post in _ATOMICS.items()},
    "MPI_Win_flush": _flush,
    "MPI_Win_flush_all": _flush_all,
    "MPI_Win_flush_local": _flush_local(1),
    "MPI_Win_flush_local_all": _flush_local(0),
    "MPI_Win_fence": _fence,
}
