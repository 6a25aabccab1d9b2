"""Work beside an answer that is already known, within a budget of its own, so that it never costs the answer.

Whether a program hangs, which of its assertions may fail, a shorter counterexample, whether a verdict is only about loops
that spin: all that is told with an answer, and without which the answer stands, is a note. There is one way to make one:
:meth:`Beside.note`, by which its time, its memory and what it raises are the budget's business and not the caller's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.guard import Overrun, guarded_by, out_of_memory
from rdma_robust.limits import Limits, resident_mebibytes
from rdma_robust.text import one_line

Found = TypeVar("Found")

PART: Final = 0.1
MOST_S: Final = 5.0
"""Of a time limit, and in seconds, for all notes of an answer together."""

MOST_MIB: Final = 512
"""Mebibytes that notes may take beyond what the answer has taken."""

_BUDGET: Final = "what notes beside an answer may take"


class Beside:
    """The budget of all notes of one answer: `part` of the time limit of the answer, and at most so many seconds.

    Each note may take half of what those before have left, or another `share`. `left_out` says what was not found, and by
    which limit: one line each, for people.
    """

    def __init__(self, limits: Limits, part: float = PART, most: float = MOST_S) -> None:
        self._answer = limits
        self._left = most if limits.seconds is None else min(most, part * limits.seconds)
        self.left_out: list[str] = []

    def note(self, what: str, work: Callable[[Limits], Found], otherwise: Found, *, share: float = 0.5) -> Found:
        """Return what `work` finds within the limits that it is given, else `otherwise`, and `what` is left out then.

        `what` is a noun or a clause, as in "whether it hangs". Whatever `work` does, it ends soon after its limits: it is
        interrupted by the guard in the main thread, and is to look at them itself in others. Whatever it raises is
        a reason to leave it out, but for KeyboardInterrupt and what ends the process.
        """
        begun = time.monotonic()
        limits = self.limits(share)
        try:
            limits.look("preparing it")
            with guarded_by(limits):
                return work(limits)
        except (Overrun, SizeLimitError, UsageError) as error:
            self.leave_out(what, str(error))
        except MemoryError as error:
            self.leave_out(what, out_of_memory(error))
        except RecursionError:
            self.leave_out(what, "it is nested too deeply")
        except Exception as error:
            self.leave_out(what, f"internal error: {type(error).__name__}: {error}")
        finally:
            self._left = max(0.0, self._left - (time.monotonic() - begun))
        return otherwise

    def leave_out(self, what: str, why: str) -> None:
        """Note that something was not found, and why."""
        self.left_out.append(one_line(f"{what}: {why}", 300))

    def limits(self, share: float = 0.5) -> Limits:
        """Return what a note may take that begins now."""
        timed = self._answer.within(share * self._left, f"its share of {_BUDGET}")
        most = resident_mebibytes() + MOST_MIB
        if timed.memory is not None and timed.memory <= most:
            return timed
        return replace(timed, memory=most, room=f"{MOST_MIB} MiB, {_BUDGET}")
