"""What the search needs of zones, and the two that have it: the compiled kernel where it is installed, and Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from rdma_robust.analyses.prove.zones import zone_matrix
from rdma_robust.analyses.prove.zones.zone_code import ZoneCode

_LAYOUT: Final = 2

Zone = Any
"""A zone, hashable; equal ones are the same zone."""


class RunZone(Protocol):
    """Returns the zone after a piece of code; None if it is empty, True if it is in a kept one. Reorders the kept ones."""

    def __call__(self, zone: Zone, kept: list[Zone] = ...) -> Any: ...


class ZoneKernel(Protocol):
    """See zone_matrix.py, which is one. The compiled one raises OverflowError where numbers may grow too large for it."""

    def of_values(self, values: Sequence[int], clip: int) -> Zone: ...

    def entries(self, zone: Zone) -> list[int | None]: ...

    def included(self, small: Zone, large: Zone) -> bool: ...

    def smaller(self, zone: Zone, kept: list[Zone]) -> list[Zone]: ...

    def compiled(self, code: ZoneCode) -> RunZone: ...


def _kernels() -> tuple[ZoneKernel, ...]:
    try:
        from rdma_robust.analyses.prove.zones import _zones  # noqa: PLC0415 - it may be missing
    except ImportError:
        return (zone_matrix,)
    return (_zones, zone_matrix) if _zones.LAYOUT == _LAYOUT else (zone_matrix,)


ZONE_KERNELS: Final = _kernels()
"""The fastest first; the last one takes numbers of any size."""
