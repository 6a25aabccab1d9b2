"""Where a thread is, in a state in which nothing goes on by itself: what `resting.py` asks of a machine."""

from __future__ import annotations

from typing import NamedTuple

from rdma_robust.language.flow.cfg import Step
from rdma_robust.semantics.machines.inboxes import Inbox
from rdma_robust.semantics.machines.threadcode import Registers


class ThreadPlace(NamedTuple):
    """Where a thread is: its program point, its registers, and per queue pair the completions that it may still poll.

    `inboxes` are the receives of all connections. `stuck` are the queue pairs, by number, on which a message waits for a
    buffer, and with it all that was posted after it: `messages` are the steps of those messages. `held` is the command whose
    message the thread itself waits for, -1 for none.
    """

    point: int
    registers: Registers
    unpolled: tuple[int, ...]
    inboxes: tuple[Inbox, ...] = ()
    stuck: tuple[int, ...] = ()
    messages: tuple[Step, ...] = ()
    held: int = -1
