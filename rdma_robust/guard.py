"""Limits seen from outside the passes: a timer looks at the clock and the memory, whatever the process is doing.

The passes poll their limits themselves, and a search that polls can say how far it got. The timer is for what lies between
and for what was forgotten: it raises LimitReached a little after the limit, and a little later Overrun, which no handler
swallows. What does not even come back to the interpreter is ended by another process, later still (:data:`OUTSIDE`).
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import Final, TypeVar

from rdma_robust.errors import LimitReached, SizeLimitError
from rdma_robust.limits import Limits

Found = TypeVar("Found")

TICK_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Slack:
    """How much later than a limit something acts: a part of it, and seconds or mebibytes."""

    part: float
    seconds: float
    mebibytes: int

    def of(self, limits: Limits) -> Limits:
        """Return `limits` with that much more of time and memory."""
        deadline, memory = limits.deadline, limits.memory
        return replace(
            limits,
            deadline=None if deadline is None else deadline + self.part * (limits.seconds or 0.0) + self.seconds,
            memory=None if memory is None else int(memory * (1 + self.part)) + self.mebibytes,
        )


NONE: Final = Slack(0.0, 0.0, 0)
ENDING: Final = Slack(0.1, 0.3, 12)
"""For work that ends by itself when a limit is reached, and then has something to say."""

FORGOTTEN: Final = Slack(0.04, 0.2, 12)
SWALLOWED: Final = Slack(0.1, 0.6, 28)
OUTSIDE: Final = Slack(0.15, 0.8, 40)
"""A process that is still beyond its limits here is ended by another; at most a fifth and 1 s or 50 MiB too late in all."""

DOING: Final[Mapping[str, str]] = {
    "rdma_robust.cli": "preparing",
    "rdma_robust.frame": "preparing",
    "rdma_robust.frame.shell.inputs": "reading",
    "rdma_robust.cli.processes": "deciding",
    "rdma_robust.questions": "deciding",
    "rdma_robust.orders": "reading",
    "rdma_robust.c": "reading C",
    "rdma_robust.language.syntax": "parsing",
    "rdma_robust.language.check": "checking names and types",
    "rdma_robust.language.flow": "building the flow graph",
    "rdma_robust.language.load": "checking names and types",
    "rdma_robust.robustness.event_graph": "building the event graph",
    "rdma_robust.robustness.reductions": "reducing",
    "rdma_robust.robustness.reductions.critical": "filtering",
    "rdma_robust.robustness.reductions.specialise": "specialising",
    "rdma_robust.robustness": "instrumenting",
    "rdma_robust.robustness.lift": "confirming the counterexample",
    "rdma_robust.robustness.decide": "deciding",
    "rdma_robust.pipeline": "deciding",
    "rdma_robust.counters": "searching",
    "rdma_robust.counters.lower": "lowering",
    "rdma_robust.counters.liveness": "forgetting dead values",
    "rdma_robust.counters.inductive": "looking for an invariant",
    "rdma_robust.counters.kernel.bytecode": "compiling for the kernel",
    "rdma_robust.counters.promela": "writing the export",
    "rdma_robust.counters.explicit": "writing out the control graph",
    "rdma_robust.exports": "writing the export",
    "rdma_robust.petri": "searching",
    "rdma_robust.petri.spec": "parsing",
    "rdma_robust.petri.slice": "slicing",
    "rdma_robust.semantics.machines": "searching the states of the machine",
    "rdma_robust.semantics.oracle": "checking by brute force",
    "rdma_robust.analyses.explain": "explaining",
    "rdma_robust.analyses.repair": "looking for a repair",
    "rdma_robust.analyses.safety": "searching",
    "rdma_robust.certify": "checking the certificate",
    "rdma_robust.evidence": "writing the certificate",
    "rdma_robust.questions.certificate_files": "writing the certificate",
    "rdma_robust.hardness": "generating programs",
    "rdma_robust.teaching.demos": "preparing the demo",
    "rdma_robust.teaching.explorer": "preparing the explorer",
    "rdma_robust.batch": "making the page",
    "rdma_robust.reports": "writing the report",
}
"""What a process does whose innermost frame of this package is in a module of this name, or below it."""


class Overrun(BaseException):
    """Far beyond a limit; not an Exception, so that no handler on the way swallows it. Its text is for people."""


@contextmanager
def guarded_by(limits: Limits, more: Slack = NONE) -> Iterator[None]:
    """Raise LimitReached in this block soon after a limit of time or memory is reached, and so much `more`; then Overrun.

    Only where signals reach Python: in the main thread; elsewhere the passes poll.
    """
    if (limits.deadline is None and limits.memory is None) or not _can_ring():
        yield
        return
    first, last = FORGOTTEN.of(more.of(limits)), SWALLOWED.of(more.of(limits))

    raised: list[type[BaseException]] = []
    over: list[bool] = []
    imports = _imports(sys._getframe())
    late_import: list[str] = []

    def ring(_signal: int, frame: FrameType | None) -> None:
        """Raise each once: a second one would hit those who handle the first. Where it would be lost, the next tick does."""
        if over or _drops_exceptions(frame):
            return
        if _imports(frame) > imports:
            late_import[:] = [first.exceeded()]
            return
        what = "loading modules" if any(late_import) else doing(frame)
        late_import.clear()
        if LimitReached not in raised and (limit := first.exceeded()):
            raised.append(LimitReached)
            raise LimitReached(limit, limits.said(limit), what)
        if Overrun not in raised and (limit := last.exceeded()):
            raised.append(Overrun)
            raise Overrun(f"reached {limits.said(limit)} while {what}")

    previous = signal.signal(signal.SIGALRM, ring)
    before = signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
    try:
        try:
            yield
        finally:
            over.append(True)
    finally:  # also where the timer came between the block and its end
        signal.setitimer(signal.ITIMER_REAL, *before)
        signal.signal(signal.SIGALRM, previous)


_IMPORTING: Final = ("importlib._bootstrap", "_frozen_importlib")
_CALLED_BACK: Final = ("weakref", "_weakrefset", "clang.cindex")


def _drops_exceptions(frame: FrameType | None) -> bool:
    """Whether Python ignores what is raised here: in a destructor, in what is called when a referent is gone, or in what
    libclang calls. Or a guard would not end: while a `with` is left."""
    if frame is not None and frame.f_globals.get("__name__") in ("contextlib", __name__):
        return True
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__") in _CALLED_BACK:
            return True
        frame = frame.f_back
    return False


def _imports(frame: FrameType | None) -> int:
    """Return how many imports are under way: one that was ended would leave packages that cannot be imported again."""
    found = 0
    while frame is not None:
        found += frame.f_globals.get("__name__") in _IMPORTING
        frame = frame.f_back
    return found


def _can_ring() -> bool:
    """Whether there is a timer here: in a browser there is only the function."""
    in_main = threading.current_thread() is threading.main_thread()
    return in_main and hasattr(signal, "setitimer") and sys.platform != "emscripten"


def doing(frame: FrameType | None) -> str:
    """Return what the code of the innermost frame that is known does, for messages, as in "filtering"."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        while name:
            if name in DOING:
                return DOING[name]
            name = name.rpartition(".")[0]
        frame = frame.f_back
    return "working"


def out_of_memory(error: MemoryError) -> str:
    """Return what to say of an allocation that failed: what was being done."""
    trace: TracebackType | None = error.__traceback__
    frame = None
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
    return f"out of memory while {doing(frame)}"


def found_within(limits: Limits, work: Callable[[], Found], otherwise: Callable[[str], Found]) -> Found:
    """Return what `work` finds, or what `otherwise` makes of the reason where a limit of time, memory or size ended it."""
    try:
        with guarded_by(limits):
            return work()
    except (Overrun, SizeLimitError) as error:
        return otherwise(str(error))
    except MemoryError as error:
        return otherwise(out_of_memory(error))
    except RecursionError:
        return otherwise("it is nested too deeply")


def cut_short(limits: Limits, work: Callable[[], None], begun: Callable[[], bool]) -> str:
    """Do `work`, which keeps what it finds; return which limit ended it, '' if none did.

    Raises what `work` raises; LimitReached, Overrun and MemoryError too, unless it has `begun` to find something.
    """
    try:
        with guarded_by(limits):
            work()
    except (Overrun, LimitReached) as error:
        if not begun():
            raise
        return str(error)
    except MemoryError as error:
        if not begun():
            raise
        return out_of_memory(error)
    return ""
