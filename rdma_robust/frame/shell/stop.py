"""Ctrl-C and SIGTERM: one exception, raised once, so that what is done can still be reported."""

from __future__ import annotations

import signal
from types import FrameType

from rdma_robust.frame.exits import Exit

SIGNALS = {signal.SIGINT: Exit.INTERRUPTED, signal.SIGTERM: Exit.TERMINATED}


class Stopped(KeyboardInterrupt):
    """The user or the system asked to stop; `exit` is the exit code that says so."""

    def __init__(self, exit_code: Exit) -> None:
        self.exit = exit_code
        super().__init__()


_PENDING: list[Stopped] = []
"""The stop that was asked for and is not yet reported: Python drops an exception that interrupts a finalizer."""


def asked_to_stop() -> Stopped | None:
    """Return the Stopped that was asked for and is not yet reported."""
    return _PENDING[0] if _PENDING else None


def check() -> None:
    """Raise the Stopped that was asked for, in case it was dropped. To be called wherever the program waits."""
    if (stop := asked_to_stop()) is not None:
        raise stop


def listen() -> None:
    """Turn the first of the signals into Stopped; those after it are ignored until :func:`released`."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        _PENDING.append(Stopped(SIGNALS[signal.Signals(number)]))
        raise _PENDING[0]

    for each in SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, stop)


def released() -> None:
    """Let another signal end the process at once: the work is stopped, only the report is left."""
    _PENDING.clear()
    for each in SIGNALS:
        signal.signal(each, signal.SIG_DFL)
