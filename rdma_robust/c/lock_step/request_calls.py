"""Waiting for requests of MPI, and what else is done with them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import combinations
from typing import Final

from rdma_robust.c.evaluate.c_values import Object, Pointer, UnknownValue, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, further
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS, STATUS_IGNORE
from rdma_robust.c.lock_step.call_arguments import count_at, wrong
from rdma_robust.c.lock_step.channels import ANY, Answer
from rdma_robust.c.lock_step.message_calls import FLAG, store_status
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, rank_of
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language import message_program as mp
from rdma_robust.messages.language.message_terms import Element, Zeros

EMPTY_STATUS: Final = (ANY, ANY, 0)
"""What is said of a request that is null or inactive."""
_HANDLE: Final = 8
_STATUS_SIZE: Final = 16
_MAYBE: Final = UnknownValue("what one of several requests that MPI_Waitany waits for has received")
WHICH, PLACES = "w", "a"
"""The registers for which request has completed, or how many have; and which."""
_MOST: Final = 8


def _cell(call: CallContext, index: int, nth: int) -> tuple[Object, int]:
    name, offset = call.address(index, "this request")
    return name, offset + _HANDLE * nth


def _record(call: CallContext, index: int, nth: int = 0) -> RequestRecord | None:
    """Return the request whose handle stands in an argument's list; None for MPI_REQUEST_NULL."""
    cell = _cell(call, index, nth)
    return request_with_handle(call, call.run.raw_read(call.state, *cell, _HANDLE), cell)


def request_with_handle(call: CallContext, handle: Value, cell: tuple[Object, int] | None = None) -> RequestRecord | None:
    """Return the request that a handle is, which stands in a cell; None for MPI_REQUEST_NULL."""
    rank, found = rank_of(call), known_scalar(handle)
    if found == 0:
        return None
    if isinstance(found, Pointer) and found.object.kind == "handle" and found.object.name == "request":
        number = int(str(found.object.key[0]))
    elif isinstance(found, UnknownValue) and cell is not None and cell in rank.cells:
        number = rank.cells[cell]
    else:
        raise wrong(call, "invalid-request", "the request is not initialised")
    if number not in rank.requests:
        raise wrong(call, "invalid-request", "the request is complete or freed already")
    return rank.requests[number]


def _records(call: CallContext, count: int, index: int) -> list[RequestRecord | None]:
    return [_record(call, index, nth) for nth in range(count)]


def _done(call: CallContext, index: int, nth: int, record: RequestRecord) -> None:
    """A request is complete: its handle is null now, unless it is persistent."""
    rank, cell = rank_of(call), _cell(call, index, nth)
    rank.cells.pop(cell, None)
    if record.again is None:
        call.run.raw_write(call.state, *cell, _HANDLE, 0)


def wait_for_all(call: CallContext, count: int, requests: int, statuses: int, chosen: list[int] | None = None) -> None:
    """Wait for all requests of a list, or those chosen. Raises Blocked until they are ready."""
    rank = rank_of(call)
    found = _records(call, count, requests)
    wanted = [(nth, each) for nth, each in enumerate(found) if each is not None and each.is_active]
    wanted = [each for each in wanted if chosen is None or each[0] in chosen]
    if rank.ongoing is None:
        for _, each in wanted:
            each.before_wait()
        rank.ongoing = tuple(each for _, each in wanted)
        rank.emit_wait(rank.ongoing, call.chain)
    if not all(each.is_ready() for _, each in wanted):
        raise Blocked
    rank.ongoing = None
    for nth, each in wanted:
        rank.complete(each)
        _done(call, requests, nth, each)
    numbers = {each.number for _, each in wanted}
    for key in [each for each in rank.partly if each & numbers]:
        del rank.partly[key]
    if chosen is None:
        _store_statuses(call, statuses, found, numbers)


def _store_statuses(call: CallContext, index: int, records: Sequence[RequestRecord | None], done: Container[int]) -> None:
    """Store the statuses of a list of requests, of which those with some numbers were completed."""
    if known_scalar(call.arguments[index]) == STATUS_IGNORE:
        return
    for nth, record in enumerate(records):
        status = EMPTY_STATUS if record is None or record.number not in done else record.status
        store_status(call, further(call.arguments[index], _STATUS_SIZE * nth), status)


def _wait(call: CallContext) -> Result:
    wait_for_all(call, 1, 0, 1)
    return 0


def _waitall(call: CallContext) -> Result:
    wait_for_all(call, count_at(call, 0), 1, 2)
    return 0


def _waitany(call: CallContext) -> Result:
    wait_for_any(call)
    return 0


def _waitsome(call: CallContext) -> Result:
    wait_for_some(call)
    return 0


def all_tested(call: CallContext, count: int, requests: int, statuses: int) -> bool:
    """Test whether all requests of a list are complete. Raises Blocked until that is decided."""
    found = _records(call, count, requests)
    active = {nth: each for nth, each in enumerate(found) if each is not None and each.is_active}
    if not active:
        wait_for_all(call, count, requests, statuses)
        return True
    chosen = _completed(call, active, "all", tests=True, requests=requests)
    if chosen:
        _store_statuses(call, statuses, found, {active[each].number for each in chosen})
    return bool(chosen)


def wait_for_any(call: CallContext, *, tests: bool = False) -> bool:
    """Number of requests, their list, where the place goes, for a test whether it succeeds, status. Raises Blocked."""
    rank, active, status = rank_of(call), _active(call), call.arguments[-1]
    if not active:
        call.set_private(call.arguments[2], 4, NUMBERS["UNDEFINED"], "the place")
        store_status(call, status, EMPTY_STATUS)
        return True
    if not tests and len(active) > 1 and not rank.follows:
        rank.job.is_open = True
        _complete_some(call, rank, active)
        unknown = UnknownValue(f"which request {call.name} of line {call.chain[0].line} completes")
        call.set_private(call.arguments[2], 4, unknown, "the place")
        store_status(call, status, (unknown, unknown, unknown))
        return True
    if not tests and len(active) == 1:
        chosen: Answer = tuple(active)
        wait_for_all(call, count_at(call, 0), 1, 3, list(active))
    else:
        chosen = _completed(call, active, "any", tests=tests)
    for nth in chosen:
        call.set_private(call.arguments[2], 4, nth, "the place")
        store_status(call, status, active[nth].status)
    return bool(chosen)


def wait_for_some(call: CallContext, *, tests: bool = False) -> bool:
    """Number of requests, their list, where the number of those complete goes, where their places, their statuses. Raises
    Blocked."""
    active = _active(call)
    if not active:
        call.set_private(call.arguments[2], 4, NUMBERS["UNDEFINED"], "the number")
        return True
    chosen = _completed(call, active, "some", tests=tests)
    call.set_private(call.arguments[2], 4, len(chosen), "the number")
    for at, nth in enumerate(chosen):
        call.set_private(further(call.arguments[3], 4 * at), 4, nth, "the place")
        if known_scalar(call.arguments[4]) != STATUS_IGNORE:
            store_status(call, further(call.arguments[4], _STATUS_SIZE * at), active[nth].status)
    return bool(chosen)


def _active(call: CallContext) -> dict[int, RequestRecord]:
    """Return the active requests of a list with their places: number of requests, their list."""
    found = _records(call, count_at(call, 0), 1)
    return {nth: each for nth, each in enumerate(found) if each is not None and each.is_active}


def _completed(
    call: CallContext, active: dict[int, RequestRecord], how: mp.CompletionKind, *, tests: bool, requests: int = 1
) -> Answer:
    """Complete one, some or all of several requests, and return which; none where a test fails, which it always may. Raises
    Blocked until that is decided, and Refusal where it is left open."""
    rank = rank_of(call)
    if not rank.follows:
        rank.job.is_open = True
        raise Refusal("RR814", f"what `{call.name}` completes decides something", "MPI_Wait, or MPI_Waitall")
    if rank.ongoing is None:
        places, which = _own_places(active, how), None if how == "all" else mp.Place(WHICH)
        flag, several = mp.Place(FLAG) if tests else None, mp.Place(PLACES) if how == "some" else None
        if several is not None:
            rank.emit(mp.Assign(several, Zeros(Const(len(active)))))
        rank.emit(mp.Completion(places, how, tests, flag, which, several, rank.job.place(call.chain)))
        rank.questions += 1
        rank.ongoing = tuple(active.values())
    is_closed = all(each.is_ready() for each in active.values())
    chosen = rank.answer(_ready(active, how, tests=tests), is_closed=is_closed)
    rank.ongoing = None
    numbers = [list(active).index(each) for each in chosen]
    told: dict[mp.CompletionKind, tuple[int, ...]] = {"any": tuple(numbers[:1]), "some": (len(numbers),), "all": ()}
    which_facts = [(Name(WHICH), each) for each in told[how] if chosen]
    several_facts = [(Element(Name(PLACES), Const(at)), each) for at, each in enumerate(numbers) if how == "some"]
    rank.learn(*([(Name(FLAG), int(bool(chosen)))] if tests else []), *which_facts, *several_facts)
    for nth in chosen:
        rank.complete(active[nth])
        _done(call, requests, nth, active[nth])
    if not chosen:
        rank.fails(call.chain, call.name)
    return chosen


def _ready(active: dict[int, RequestRecord], how: mp.CompletionKind, *, tests: bool) -> list[Answer]:
    """Return which requests may be completed together now; none of them where that is only tested."""
    ready = tuple(nth for nth, each in active.items() if each.is_ready())
    sizes = {"any": range(1, 2), "some": range(1, len(ready) + 1), "all": range(len(active), len(active) + 1)}[how]
    return [each for size in sizes for each in combinations(ready, size)] + [()] * tests


def _own_places(active: dict[int, RequestRecord], how: mp.CompletionKind = "any") -> tuple[mp.Place, ...]:
    """Return the requests of the program of messages that those of MPI are. Raises Refusal where one is none, or several of
    which one can be complete."""
    if any(not each.places or (how != "all" and len(each.places) > 1) for each in active.values()):
        raise Refusal(
            "RR814", "requests of MPI_PROC_NULL or of collective calls among others are not followed here", "MPI_Waitall"
        )
    if how == "some" and len(active) > _MOST:
        raise Refusal(
            "RR817", f"some of {len(active)} requests are completed, and of more than {_MOST} that is not followed"
        )
    return tuple(place for each in active.values() for place in each.places)


def _complete_some(call: CallContext, rank: RankMachine, active: dict[int, RequestRecord]) -> None:
    """Complete one more of several requests, which one is open; the last of them completes all. Raises Blocked until enough
    are ready, and Refusal for lists that share requests and are not the same."""
    group = frozenset(each.number for each in active.values())
    if any(each != group and each & group for each in rank.partly):
        raise Refusal("RR814", "requests of which some are complete are waited for among others", "one list for all waits")
    done = rank.partly.get(group, 0)
    if rank.ongoing is None:
        places = _own_places(active)
        rank.emit(mp.Completion(places, "any", tests=False, which=mp.Place(WHICH), span=rank.job.place(call.chain)))
        rank.ongoing = tuple(active.values())
    if sum(each.is_ready() for each in active.values()) <= done:
        raise Blocked
    rank.ongoing = None
    if done + 1 < len(active):
        rank.partly[group] = done + 1
        for nth, each in active.items():
            cell = _cell(call, 1, nth)
            rank.cells[cell] = each.number
            call.run.raw_write(call.state, *cell, _HANDLE, _MAYBE)
            for name, use in rank.unused(each):
                if use.writes:
                    call.run.raw_write(call.state, name, use.low, use.high - use.low, _MAYBE)
                    each.maybe.append((name, use.low, use.high - use.low))
        return
    rank.partly.pop(group, None)
    for nth, each in active.items():
        is_intact = all(call.run.raw_read(call.state, *part) == _MAYBE for part in each.maybe)
        rank.complete(each)
        for part in [] if is_intact else each.maybe:
            call.run.raw_write(call.state, *part, _MAYBE)
        _done(call, 1, nth, each)


def _start(call: CallContext) -> Result:
    return _started(call, 1, 0)


def _startall(call: CallContext) -> Result:
    return _started(call, count_at(call, 0), 1)


def _started(call: CallContext, count: int, index: int) -> Result:
    for record in _records(call, count, index):
        if record is None or record.again is None:
            raise wrong(call, "invalid-request", "the request is not a persistent one")
        if record.is_active:
            raise wrong(call, "invalid-request", "the request is active")
        record.again(call.state, record)
    return 0


def _request_free(call: CallContext) -> Result:
    """A request that is active goes on, and nobody can wait for it: what it receives may be there at any time, and what it
    sends may never be changed any more, unless it sends a copy."""
    rank, record = rank_of(call), _record(call, 0)
    if record is None:
        raise wrong(call, "invalid-request", "the request is MPI_REQUEST_NULL")
    if record.is_active and record.call not in ("MPI_Ibsend", "MPI_Bsend_init"):
        said = (
            f"{call.name}: the request of {record.call} (line {record.chain[0].line}) is active, and nobody can wait for it"
        )
        rank.wrong("request-lost", said, call.chain)
    rank.requests.pop(record.number)
    call.run.raw_write(call.state, *_cell(call, 0, 0), _HANDLE, 0)
    return 0


REQUEST_CALLS: Final[dict[str, Handler]] = {
    "MPI_Wait": _wait,
    "MPI_Waitall": _waitall,
    "MPI_Waitany": _waitany,
    "MPI_Waitsome": _waitsome,
    "MPI_Start": _start,
    "MPI_Startall": _startall,
    "MPI_Request_free": _request_free,
}
