"""Windows of MPI as one process knows them: the memory that it exposes, its epochs, and its transfers under way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rdma_robust.c.evaluate.c_values import Pointer
from rdma_robust.c.evaluate.operations import Chain
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.c.lock_step.window_conflicts import WindowAccess


@dataclass(slots=True)
class TransferUnderWay:
    """A transfer that is not complete at its target: its uses of local memory, its access there, what it does at its end,
    and whether it is over once its data is here, as one that only reads is."""

    record: RequestRecord
    access: WindowAccess
    target: int
    work: Callable[[], None]
    reads: bool
    is_done: bool = False

    def finish(self, moment: int) -> None:
        """Let it be complete, at a moment of its process."""
        if not self.is_done:
            self.is_done, self.access.end = True, moment
            self.work()


@dataclass(slots=True)
class OwnWindow:
    """A window of a process: its name among all, its processes, and its memory; the epochs that are open.

    `locks` says of each target whether its lock is exclusive. `lock_inside` is the first lock behind a fence: if another
    fence follows, that was wrong.
    """

    name: str
    group: Communicator
    base: Pointer | None
    size: int
    unit: int
    is_fenced: bool = False
    locks: dict[int, bool] = field(default_factory=dict)
    all_locked: bool = False
    started: tuple[int, ...] | None = None
    exposed: tuple[int, ...] | None = None
    lock_inside: tuple[str, Chain] | None = None
    under_way: list[TransferUnderWay] = field(default_factory=list)

    def is_open_for(self, target: int) -> bool:
        """Whether an epoch lets this process reach a target."""
        return self.is_fenced or self.all_locked or target in self.locks or target in (self.started or ())

    @property
    def is_locked(self) -> bool:
        """Whether some lock is held."""
        return bool(self.locks) or self.all_locked
