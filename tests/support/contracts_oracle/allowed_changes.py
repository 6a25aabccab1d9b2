"""Globals that changed though no `assigns` of a contract allows it."""

from __future__ import annotations

from itertools import count

from rdma_robust.contracts.language.contract_program import AssignsClause
from rdma_robust.contracts.language.spec_worth import CollectiveState, is_true, spec_value
from rdma_robust.limits import NEVER, Poll
from rdma_robust.messages.language.message_terms import FaultError, Value, require_number


def changed_outside(
    frames: tuple[AssignsClause, ...] | None, state: CollectiveState, process: int, poll: Poll = NEVER
) -> str | None:
    """Return a global that is not what it was at entry though no frame of the process allows it; None if there is none.

    None for `frames` allows everything. A fault in a frame gives "", as the clause does not hold then.
    """
    if frames is None:
        return None
    before, now = state.before[process], state.now[process]
    try:
        allowed = _allowed(frames, state.entry(), process, poll)
    except FaultError:
        return ""
    for name, value in now.items():
        cells = allowed.get(name, ())
        if cells is not None and not _same_but(before[name], value, cells):
            return name
    return None


def _allowed(
    frames: tuple[AssignsClause, ...], entry: CollectiveState, process: int, poll: Poll
) -> dict[str, tuple[range, ...] | None]:
    """Return for each global the elements that may change, None if it may as a whole."""
    allowed: dict[str, tuple[range, ...] | None] = {}
    for frame in frames:
        if frame.assumes is not None and not is_true(frame.assumes, entry, process, poll):
            continue
        for cells in frame.cells:
            if cells.low is None:
                allowed[cells.name] = None
                continue
            low = require_number(spec_value(cells.low, entry, process, poll=poll))
            high = low if cells.high is None else require_number(spec_value(cells.high, entry, process, poll=poll))
            known = allowed.get(cells.name, ())
            if known is not None:
                allowed[cells.name] = (*known, range(low, high + 1))
    return allowed


def _same_but(before: Value, now: Value, cells: tuple[range, ...]) -> bool:
    if before == now:
        return True
    if isinstance(before, int) or isinstance(now, int) or len(before) != len(now):
        return False
    pairs = zip(count(), before, now)
    return all(old == new or any(at in each for each in cells) for at, old, new in pairs)
