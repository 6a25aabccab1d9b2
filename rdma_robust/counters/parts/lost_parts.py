"""Why a search in parts has no answer: what is said of it is the reason of an UNKNOWN."""

from __future__ import annotations

from rdma_robust.errors import LimitReached


class PartsLostError(LimitReached):
    """A process that has a part of the search is gone, or cannot be reached: there is no answer. `why` is for people."""

    def __init__(self, why: str) -> None:
        super().__init__("processes", why, "searching")
        self.args = (why,)

    def __reduce__(self) -> tuple[type[PartsLostError], tuple[str]]:
        return (type(self), (self.said,))


class HostsLostError(PartsLostError):
    """Nobody is there any more who could have parts."""


class CheckpointError(PartsLostError):
    """A checkpoint cannot be written."""
