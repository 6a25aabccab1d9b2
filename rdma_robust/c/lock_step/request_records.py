"""Requests of MPI as their process knows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rdma_robust.c.evaluate.c_values import Object, Value
from rdma_robust.c.evaluate.operations import Chain
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.lock_step.window_conflicts import WindowAccess
from rdma_robust.messages.language import message_program as mp


@dataclass(frozen=True, slots=True)
class ActiveUse:
    """Bytes of an object that an operation under way reads or, with `writes`, writes; the call, and where it is."""

    low: int
    high: int
    writes: bool
    call: str
    line: int


@dataclass(slots=True)
class RequestRecord:
    """A request: the call that made it, its requests in the program of messages, what completes it, and its uses of memory.

    `again` issues a persistent one. One that `is_active` was issued and is not complete. Its completion says `status`:
    source, tag, bytes. `maybe` is memory that it has received into, if it is the one of several that is complete;
    `accesses` are its accesses to memory in windows. `question` is the number of that which message it takes.
    """

    number: int
    call: str
    chain: Chain
    places: tuple[mp.Place, ...] = ()
    is_ready: Callable[[], bool] = lambda: True
    finish: Callable[[State], None] = lambda _: None
    again: Callable[[State, RequestRecord], None] | None = None
    is_active: bool = True
    status: tuple[Value, Value, Value] | None = None
    uses: tuple[tuple[Object, ActiveUse], ...] = ()
    accesses: list[WindowAccess] = field(default_factory=list)
    question: int = 0
    maybe: list[tuple[Object, int, int]] = field(default_factory=list)

    def before_wait(self) -> None:
        """Emit what has to stand before a wait for it: nothing, but of one that can never be complete."""
