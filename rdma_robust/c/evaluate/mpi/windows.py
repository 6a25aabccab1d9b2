"""Windows of MPI: memory that others reach, transfers and accumulates, and what completes them.

Requests have no completion unless the program completes some of the window locally: then each has one, and what completes
it here polls them all. A request that MPI_Wait waits for has a queue pair of its own where the standard is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.c.evaluate.c_values import Object, Pointer, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.libc import allocated
from rdma_robust.c.evaluate.mpi.handles import Datatype, datatype, handle_key, members, process_of_rank
from rdma_robust.c.evaluate.one_sided.spmd import (
    barrier,
    begin,
    completed,
    connections_under_way,
    mark_outstanding,
    queue_pair,
    reaches_others,
    store_handle,
)
from rdma_robust.c.evaluate.one_sided.transfers import Operands, Remote, accumulate, get, polls, put
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal

_OPERATIONS: Final = {1: "faa", 2: "swap", 3: "fetch"}
_CAS = "cas"


@dataclass(frozen=True, slots=True)
class Window:
    """A window: its number, and its processes."""

    number: int
    processes: tuple[str, ...]

    @property
    def label(self) -> str:
        """What its queue pairs are called; the first window has those without a name."""
        return f"win{self.number}_" if self.number else ""

    @property
    def group(self) -> tuple[str, int]:
        """What flushes of the window complete."""
        return "window", self.number


def window(call: CallContext, index: int) -> Window:
    """Return the window that an argument is."""
    found = handle_key(call.arguments[index], "window")
    if found is None:
        raise Refusal("RR812", "this window is not known here", "MPI_Win_create or MPI_Win_allocate makes one")
    return Window(int(found[0]), tuple(map(str, found[1:])))


# making and freeing


def _create(call: CallContext, base: Pointer | None, size_at: int) -> Result:
    """Say what this process has in a new window, and store its handle. All processes make it. Behind the size stand the unit
    of displacements, an info and the communicator, last where the window goes."""
    size, unit = call.number(size_at, "the size of the window"), size_at + 1
    processes = members(call, size_at + 3)
    number = call.state.numbers.get("windows", 0)
    call.state.numbers["windows"] = number + 1
    region = (base, size, call.number(unit, "the unit of displacements"))
    known = call.run.world.found.regions.setdefault(("window", number, call.run.process), region)
    if known != region:
        raise Refusal("RR844", "this window is other memory on other ways", "make it at one place")
    store_handle(call, call.arguments[5], "window", (number, *processes))
    begin(call)
    return barrier(call, members=processes) if call.state.is_set_up and number else 0


def _win_create(call: CallContext) -> Result:
    base = known_scalar(call.arguments[0])
    return _create(call, base if isinstance(base, Pointer) else None, 1)


def _win_allocate(call: CallContext) -> Result:
    base = allocated(call, call.number(0, "the size of the window"), "win")
    call.set_private(call.arguments[4], 8, base, "the address of the window")
    return _create(call, base, 0)


def _win_free(call: CallContext) -> Result:
    name, offset = call.address(0, "this window")
    call.arguments = [call.run.raw_read(call.state, name, offset, 8), *call.arguments[1:]]
    found = window(call, 0)
    call.run.raw_write(call.state, name, offset, 8, 0)
    return barrier(call, members=found.processes)


# transfers


def _is_local(call: CallContext, of: Window) -> bool:
    """Whether the program completes requests of a window locally."""
    return ("local", of.number) in call.run.world.known.said


def _remote(call: CallContext, of: Window, rank: int, displacement: int, size: int, *, apart: str = "") -> Remote | None:
    """Return the other end of a transfer, None for `MPI_PROC_NULL`. Raises RR813 outside of the window."""
    peer = process_of_rank(call, rank, of.processes)
    reaches_others(call)
    if peer is None or not size:
        return None
    match call.run.world.known.regions.get(("window", of.number, peer)):
        case (base, int(total), int(unit)):
            at = call.number(displacement, "the displacement") * unit
        case _:
            raise Refusal("RR812", f"{peer} does not make this window", "all processes call MPI_Win_create")
    if not isinstance(base, Pointer) or at < 0 or at + size > total:
        raise Refusal("RR813", f"bytes {at} to {at + size} are outside of the window of {peer}, which has {total}")
    connection = queue_pair(call, peer, f"{of.label}{apart}")
    mark_outstanding(call, connection, of.group)
    return Remote(peer, connection, base.object, base.offset + at)


def _posted(call: CallContext, of: Window, remote: Remote, statements: list[ThreadStatement]) -> list[ThreadStatement]:
    """Return requests as they are posted: each with a completion, if the program completes some locally."""
    if not _is_local(call, of):
        return statements
    key = ("completions", remote.connection)
    count = call.state.numbers.get(key, 0) + len(statements)
    if count > call.run.world.options.waiting:
        limit = call.run.world.options.waiting
        raise Refusal("RR817", f"more than {limit} completions wait here, and their number has no bound", "MPI_Win_flush")
    call.state.numbers[key] = count
    return [replace(each, form=each.form.replace(" unsignaled", "")) for each in statements]


def _moved(call: CallContext, is_put: bool, apart: str = "") -> tuple[list[ThreadStatement], Remote | None]:
    """`MPI_Put`, `MPI_Get`: buffer, count, type, rank, displacement, count and type there, window."""
    of, here, there = window(call, 7), datatype(call, 2), datatype(call, 6)
    size = call.number(1, "the number of elements") * here.size
    if size != call.number(5, "the number of elements") * there.size:
        raise Refusal("RR814", "a transfer of other lengths at its two ends is not modelled", "the same count and type")
    remote = _remote(call, of, 3, 4, size, apart=apart)
    if remote is None:
        return [], None
    move = put if is_put else get
    found = move(call, remote, call.address(0, "the buffer"), size, here.element.size, late=True)
    return _posted(call, of, remote, found), remote


def _transfer(is_put: bool) -> Handler:
    def handler(call: CallContext) -> Result:
        found, _ = _moved(call, is_put)
        return call.step(found) if found else 0

    return handler


def _request(is_put: bool) -> Handler:
    """A transfer with a request that MPI_Wait waits for."""

    def handler(call: CallContext) -> Result:
        call.run.world.found.said.add(("local", window(call, 7).number))
        waiting = sum(isinstance(key, tuple) and key[0] == "request" for key in call.state.numbers)
        apart = f"request{waiting + 1}_" if call.run.world.options.is_of_standard else ""
        found, remote = _moved(call, is_put, apart)
        if remote is None:
            call.set_private(call.arguments[8], 8, 0, "this request")
            return 0
        call.state.numbers["request", remote.connection] = 1
        store_handle(call, call.arguments[8], "request", (remote.connection,))
        return call.step(found)

    return handler


def accumulated(call: CallContext, places: Sequence[int | None], operation: str) -> Result:
    """Return an accumulate: `places` are the arguments of origin, what is compared, result, count, type, rank, displacement
    and window. Origins are read by the card."""
    origin, compared, result, count, type_at, rank, displacement, window_at = places
    assert type_at is not None and rank is not None and displacement is not None and window_at is not None
    of, what = window(call, window_at), datatype(call, type_at)
    elements = what.count * (1 if count is None else call.number(count, "the number of elements"))
    remote = _remote(call, of, rank, displacement, elements * what.element.size)
    if remote is None:
        return 0
    found: list[ThreadStatement] = []
    for index in range(elements):
        distance = index * what.element.size
        operands = [_operand(call, each, what, distance) for each in _operands(operation, origin, compared)]
        answer = None if result is None else _operand(call, result, what, distance)
        found.append(
            accumulate(call, remote.further(distance), Operands(operation, tuple(operands), f"MPI_{what.name}"), answer)
        )
    return call.step(_posted(call, of, remote, found))


def _operands(operation: str, origin: int | None, compared: int | None) -> list[int]:
    return [] if operation == "fetch" else [each for each in (compared, origin) if each is not None]


def _operand(call: CallContext, index: int, what: Datatype, distance: int) -> tuple[Object, int, int]:
    name, offset = call.address(index, "a buffer of this accumulate")
    return name, offset + distance, what.element.size


def _operation(call: CallContext, index: int, kind: str) -> str:
    number = call.number(index, "the operation")
    if number not in _OPERATIONS or (number == 1 and kind == "float"):
        raise Refusal(
            "RR814", "this operation is not modelled", "MPI_SUM of integers, MPI_REPLACE, MPI_NO_OP, MPI_Compare_and_swap"
        )
    return _OPERATIONS[number]


def _accumulate(call: CallContext) -> Result:
    operation = _operation(call, 7, datatype(call, 2).element.kind)
    return accumulated(call, (0, None, None, 1, 2, 3, 4, 8), operation) if operation != "fetch" else 0


def _get_accumulate(call: CallContext) -> Result:
    return accumulated(call, (0, None, 3, 8, 9, 6, 7, 11), _operation(call, 10, datatype(call, 9).element.kind))


def _fetch_and_op(call: CallContext) -> Result:
    return accumulated(call, (0, None, 1, None, 2, 3, 4, 6), _operation(call, 5, datatype(call, 2).element.kind))


def _compare_and_swap(call: CallContext) -> Result:
    return accumulated(call, (0, 1, 2, None, 3, 4, 5, 6), _CAS)


# completion


def done(call: CallContext, of: Window, peer: str | None = None) -> list[ThreadStatement]:
    """Return what waits for all requests of a window, towards one process or all."""
    polled = local_completion(call, of, peer)
    return [*completed(call, [of.group], peer), *polled]


def local_completion(call: CallContext, of: Window, peer: str | None = None) -> list[ThreadStatement]:
    """Return the polls that wait for the local completion of all requests of a window, towards one process or all."""
    found: list[ThreadStatement] = []
    for connection in connections_under_way(call, [of.group], peer):
        count = call.state.numbers.pop(("completions", connection), 0)
        found += polls(connection, count)
    return found


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


def _wait_at(call: CallContext, address: Value) -> list[ThreadStatement]:
    """Return what waits for the request at an address, which is none afterwards."""
    name, offset = call.run.address(address, "this request")
    key = handle_key(call.run.raw_read(call.state, name, offset, 8), "request")
    if key is None:
        return []
    connection = str(key[0])
    call.state.numbers.pop(("request", connection), None)
    call.run.raw_write(call.state, name, offset, 8, 0)
    return polls(connection, call.state.numbers.pop(("completions", connection), 0))


def _wait(call: CallContext) -> Result:
    return _ended(call, _wait_at(call, call.arguments[0]))


def _wait_all(call: CallContext) -> Result:
    name, offset = call.address(1, "these requests")
    count = call.number(0, "the number of requests")
    return _ended(call, [each for at in range(count) for each in _wait_at(call, Pointer(name, offset + 8 * at))])


def _fence(call: CallContext) -> Result:
    of = window(call, 1)
    return barrier(call, done(call, of), of.processes)


def _alias(call: CallContext) -> Result:
    raise Refusal("RR842", f"`{call.name}` gives loads and stores to another process", "MPI_Win_allocate, MPI_Put, MPI_Get")


WINDOWS: Final[dict[str, Callable[[CallContext], Result]]] = {
    "MPI_Win_create": _win_create,
    "MPI_Win_allocate": _win_allocate,
    "MPI_Win_allocate_shared": _alias,
    "MPI_Win_shared_query": _alias,
    "MPI_Win_free": _win_free,
    "MPI_Put": _transfer(is_put=True),
    "MPI_Get": _transfer(is_put=False),
    "MPI_Rput": _request(is_put=True),
    "MPI_Rget": _request(is_put=False),
    "MPI_Accumulate": _accumulate,
    "MPI_Get_accumulate": _get_accumulate,
    "MPI_Fetch_and_op": _fetch_and_op,
    "MPI_Compare_and_swap": _compare_and_swap,
    "MPI_Win_flush": _flush,
    "MPI_Win_flush_all": _flush_all,
    "MPI_Win_flush_local": _flush_local(1),
    "MPI_Win_flush_local_all": _flush_local(0),
    "MPI_Wait": _wait,
    "MPI_Waitall": _wait_all,
    "MPI_Win_fence": _fence,
}
