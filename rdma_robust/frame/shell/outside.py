"""Whether a process is to be ended from outside, for its time or its memory."""

from __future__ import annotations

from rdma_robust.guard import OUTSIDE
from rdma_robust.limits import Limits
from rdma_robust.processes import family_mebibytes


def overdue(limits: Limits, process: int, seconds: float) -> str:
    """Return why a process that has worked for `seconds` within `limits` is to be ended from outside, or ''.

    The passes and the guard look at the limits themselves, but not in the middle of a call of a library.
    """
    late = OUTSIDE
    if limits.seconds is not None and seconds > limits.seconds * (1 + late.part) + late.seconds:
        return f"reached {limits.said('time')}, and was ended from outside"
    if limits.memory is not None and family_mebibytes(process) > limits.memory * (1 + late.part) + late.mebibytes:
        return f"reached {limits.said('memory')}, and was ended from outside"
    return ""
