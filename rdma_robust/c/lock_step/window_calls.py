"""Windows of MPI beside messages, and their epochs (MPI 4.1, 12.2 and 12.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from rdma_robust.c.evaluate.c_values import Pointer, UnknownValue, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.libc import allocated
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.call_arguments import PROC_NULL, communicator_at, group_members, mpi_handle, stand_in, wrong
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_entries import all_enter
from rdma_robust.c.lock_step.message_calls import exchange_signals
from rdma_robust.c.lock_step.own_handles import making
from rdma_robust.c.lock_step.own_windows import OwnWindow
from rdma_robust.c.lock_step.rank_machine import RankMachine, rank_of

# windows


def window_at(call: CallContext, index: int) -> OwnWindow:
    """Return the window that an argument is. Raises WrongCallError for none."""
    found = mpi_handle(call, index, "window", "window")
    if isinstance(found, int):
        raise wrong(call, "invalid-window", "the window is MPI_WIN_NULL" if found == 0 else "this is no window")
    known = rank_of(call).windows.get(str(found[0]))
    if known is None:
        raise wrong(call, "invalid-window", "the window is freed")
    return known


def complete(rank: RankMachine, window: OwnWindow, targets: Iterable[int] | None = None, *, only_here: bool = False) -> None:
    """Complete the transfers of a window to some targets, or all; `only_here` as far as their process sees."""
    chosen = [each for each in window.under_way if targets is None or each.target in targets]
    for each in chosen:
        rank.unused(each.record)
        if each.reads or not only_here:
            each.finish(rank.clock[rank.number])
    window.under_way = [each for each in window.under_way if not each.is_done]


def _unit(call: CallContext, index: int, size: int) -> int:
    """Return the unit of displacements. Raises WrongCallError for one that is none, and for a size that is none."""
    unit = call.number(index, "the unit of displacements")
    if size < 0:
        raise wrong(call, "invalid-argument", f"the size is {size}")
    if unit < 1:
        raise wrong(call, "invalid-argument", f"the unit of displacements is {unit}")
    return unit


def _made_together(
    call: CallContext, group: Communicator, memory: Callable[[], Pointer | None], size: int, unit: int
) -> Result:
    """Make a window of memory together with all others of a communicator, which reach it once all are here; the last
    argument is where the window goes. Raises Blocked."""
    rank = rank_of(call)
    if rank.ongoing is None:
        name = f"window{group.name or 'world'}_{rank.collectives.get(group.name, 0)}"
        rank.making = OwnWindow(name, Communicator(name, group.members), memory(), size, unit)
        rank.windows[name], rank.job.has_windows = rank.making, True
    all_enter(call, group)
    made = rank.making
    assert made is not None
    if made.base is not None and size:
        rank.exposed[made.base.object] = (*rank.exposed.get(made.base.object, ()), made)
    store_handle(call, call.arguments[-1], "window", (made.name,))
    return 0


def _create(call: CallContext) -> Result:
    """Base, size, unit, info, communicator, where the window goes."""
    rank, base, size = rank_of(call), known_scalar(call.arguments[0]), call.number(1, "the size")
    group, unit = communicator_at(call, 4), _unit(call, 2, size)
    if isinstance(base, UnknownValue):
        raise wrong(call, "invalid-buffer", "the base is not initialised, or not known here")
    if not isinstance(base, Pointer):
        if size:
            raise wrong(call, "invalid-buffer", f"the base is NULL, for {size} bytes")
        return _made_together(call, group, lambda: None, 0, unit)
    if base.object.kind != "global" and base.object not in rank.state.memory:
        raise wrong(call, "invalid-buffer", f"`{base.object.name}` is memory that is no more")
    total = rank.world.sizes.get(base.object, 0)
    if total and base.offset + size > total:
        base = Pointer(stand_in(call, base.object, base.offset, base.offset + size), base.offset)
    return _made_together(call, group, lambda: base, size, unit)


def _allocate(call: CallContext) -> Result:
    """Size, unit, info, communicator, where the base goes, where the window goes."""
    size = call.number(0, "the size")
    group, unit = communicator_at(call, 3), _unit(call, 1, size)
    result = _made_together(call, group, lambda: allocated(call, size, "win"), size, unit)
    made = rank_of(call).making
    assert made is not None and made.base is not None
    call.set_private(call.arguments[4], 8, made.base, "the address of the window")
    return result


def _free(call: CallContext) -> Result:
    rank = rank_of(call)
    handle, arguments = call.private(call.arguments[0], 8, "this window"), call.arguments
    call.arguments = [handle]
    window = window_at(call, 0)
    call.arguments = arguments
    if rank.ongoing is None:
        tell_open(call, window)
        base = window.base
        if base is not None and base.object.kind != "global" and base.object not in rank.state.memory:
            raise wrong(call, "invalid-buffer", f"`{base.object.name}`, the memory of the window, is no more")
    all_enter(call, window.group)
    del rank.windows[window.name]
    for name, exposing in list(rank.exposed.items()):
        left = tuple(each for each in exposing if each is not window)
        rank.exposed[name] = left
        if not left:
            del rank.exposed[name]
    call.set_private(call.arguments[0], 8, 0, "this window")
    return 0


def tell_open(call: CallContext, window: OwnWindow) -> None:
    """Raises WrongCallError for a window of which an epoch is open, or a transfer under way."""
    if window.is_locked:
        raise wrong(call, "epoch", "a lock of the window is held")
    if window.started is not None:
        raise wrong(call, "epoch", "MPI_Win_complete is missing")
    if window.exposed is not None:
        raise wrong(call, "epoch", "MPI_Win_wait is missing")
    if window.under_way:
        first = window.under_way[0].record
        raise wrong(call, "epoch", f"{first.call} of line {first.chain[0].line} is not complete")


# epochs


def _fence(call: CallContext) -> Result:
    """Assertion, window."""
    rank, window, said = rank_of(call), window_at(call, 1), call.number(0, "the assertion")
    if rank.ongoing is None:
        if window.is_locked or window.started is not None:
            raise wrong(call, "epoch", "another epoch of the window is open")
        if window.is_fenced and window.lock_inside is not None and not said & NUMBERS["MODE_NOPRECEDE"]:
            name, chain = window.lock_inside
            line = call.chain[0].line if call.chain else 0
            rank.wrong("epoch", f"{name}: it is inside of the epoch of fences that ends in line {line}", chain)
        if said & NUMBERS["MODE_NOPRECEDE"] and window.under_way:
            first = window.under_way[0].record
            text = f"MPI_MODE_NOPRECEDE, and {first.call} of line {first.chain[0].line} is before it"
            raise wrong(call, "epoch", text)
        complete(rank, window)
    all_enter(call, window.group)
    window.is_fenced, window.lock_inside = not said & NUMBERS["MODE_NOSUCCEED"], None
    return 0


def target_at(call: CallContext, index: int, window: OwnWindow) -> int | None:
    """Return the process of a rank of a window, None for MPI_PROC_NULL. Raises WrongCallError outside."""
    found, members = call.number(index, "the rank"), window.group.members
    if found == PROC_NULL:
        return None
    if not 0 <= found < len(members):
        raise wrong(call, "invalid-rank", f"target {found} of {len(members)} processes")
    return members[found]


def _opened(call: CallContext, window: OwnWindow) -> None:
    if window.is_fenced and window.lock_inside is None:
        window.lock_inside = call.name, call.chain
    if window.started is not None:
        raise wrong(call, "epoch", "the window is open by MPI_Win_start")


def _lock(call: CallContext) -> Result:
    """Kind, rank, assertion, window."""
    window = window_at(call, 3)
    target = target_at(call, 1, window)
    if window.all_locked or target in window.locks:
        raise wrong(call, "epoch", "this lock is held already")
    _opened(call, window)
    if target is not None:
        window.locks[target] = call.number(0, "the kind of this lock") == NUMBERS["LOCK_EXCLUSIVE"]
    return 0


def _unlock(call: CallContext) -> Result:
    """Rank, window."""
    window = window_at(call, 1)
    target = target_at(call, 0, window)
    if target is None:
        return 0
    if target not in window.locks:
        raise wrong(call, "epoch", f"process {window.group.rank(target)} is not locked")
    complete(rank_of(call), window, (target,))
    del window.locks[target]
    return 0


def _lock_all(call: CallContext) -> Result:
    """Assertion, window."""
    window = window_at(call, 1)
    if window.is_locked:
        raise wrong(call, "epoch", "a lock of the window is held already")
    _opened(call, window)
    window.all_locked = True
    return 0


def _unlock_all(call: CallContext) -> Result:
    window = window_at(call, 0)
    if not window.all_locked:
        raise wrong(call, "epoch", "there is no MPI_Win_lock_all before")
    complete(rank_of(call), window)
    window.all_locked = False
    return 0


def _flush(*, of_all: bool, only_here: bool) -> Handler:
    """Rank, if it is not for all, and window."""

    def handler(call: CallContext) -> Result:
        window = window_at(call, 0 if of_all else 1)
        target = None if of_all else target_at(call, 0, window)
        if not of_all and target is None:
            return 0
        if not (window.all_locked or (window.locks if of_all else target in window.locks)):
            raise wrong(call, "epoch", "no lock of the window is held")
        complete(rank_of(call), window, None if target is None else (target,), only_here=only_here)
        return 0

    return handler


_POSTED, _COMPLETED = 0, 1
"""Tags of what processes tell each other about a window."""


def _post(call: CallContext) -> Result:
    """Group, assertion, window."""
    window, group = window_at(call, 2), group_members(call, 0)
    if window.exposed is not None:
        raise wrong(call, "epoch", "the window is exposed already")
    exchange_signals(call, window.group, group, _POSTED, ("send",))
    window.exposed = group
    return 0


def _start(call: CallContext) -> Result:
    """Group, assertion, window."""
    window, group = window_at(call, 2), group_members(call, 0)
    if rank_of(call).ongoing is None and (window.started is not None or window.is_locked):
        raise wrong(call, "epoch", "another epoch of the window is open")
    exchange_signals(call, window.group, group, _POSTED, ("receive",))
    window.started = group
    return 0


def _complete(call: CallContext) -> Result:
    window = window_at(call, 0)
    if window.started is None:
        raise wrong(call, "epoch", "there is no MPI_Win_start before")
    complete(rank_of(call), window)
    exchange_signals(call, window.group, window.started, _COMPLETED, ("send",))
    window.started = None
    return 0


def _wait(call: CallContext) -> Result:
    window = window_at(call, 0)
    if window.exposed is None:
        raise wrong(call, "epoch", "there is no MPI_Win_post before")
    exchange_signals(call, window.group, window.exposed, _COMPLETED, ("receive",))
    window.exposed = None
    return 0


def _sync(call: CallContext) -> Result:
    window_at(call, 0)
    return 0


def _group(call: CallContext) -> Result:
    members = window_at(call, 0).group.members
    store_handle(call, call.arguments[1], "group", tuple(f"P{each}" for each in members))
    return 0


_EPOCHS: Final[dict[str, Callable[[CallContext], Result]]] = {
    "create": _create, "allocate": _allocate, "free": _free, "fence": _fence, "lock": _lock, "unlock": _unlock,
    "lock_all": _lock_all, "unlock_all": _unlock_all, "post": _post, "start": _start, "complete": _complete, "wait": _wait,
    "sync": _sync, "flush": _flush(of_all=False, only_here=False), "flush_all": _flush(of_all=True, only_here=False),
    "get_group": making("group", _group),
    "flush_local": _flush(of_all=False, only_here=True), "flush_local_all": _flush(of_all=True, only_here=True),
}  # fmt: skip
WINDOW_CALLS: Final[dict[str, Handler]] = {f"MPI_Win_{name}": handler for name, handler in _EPOCHS.items()}
