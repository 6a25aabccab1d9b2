"""Whose a folder of checkpoints is: it is of one question about one text."""

from __future__ import annotations

from typing import Final, Protocol

from rdma_robust.frame.shell.inputs import Source
from rdma_robust.limits import Limits

_LIMITS: Final = ("timeout", "max_states", "memory")
"""Options that another run may have otherwise: it goes on where the one before was ended."""


class _Asking(Protocol):
    def described(self) -> dict[str, object]: ...


def claim_checkpoints(text: str, source: Source, asking: _Asking, limits: Limits) -> None:
    """Claim the folder for checkpoints, if there is one, for this question about the text. Raises UsageError if it has those
    of something else."""
    if limits.checkpoint:
        from rdma_robust.counters.parts.checkpoint import claim_folder  # noqa: PLC0415 - few need it

        asked = {name: value for name, value in asking.described().items() if name not in _LIMITS}
        claim_folder(limits.checkpoint, (source.name,), repr((type(asking).__name__, sorted(asked.items()), text)))
