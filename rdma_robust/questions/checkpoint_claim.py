"""Whose a folder of checkpoints is: it is of one question about one text."""

from __future__ import annotations

from typing import Final, Protocol

from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.limits import Limits

_LIMITS: Final = ("timeout", "max_states", "memory")
"""Options that another run may have otherwise: it goes on where the one before was ended."""


class _Asking(Protocol):
    def described(self) -> dict[str, object]: ...


def asked_text(source: Source, asking: _Asking, limits: Limits) -> str:
    """Return the text of `source`. Raises UsageError if the folder for checkpoints, if there is one, has those of something
    else, and what reading raises."""
    text = read_source(source)
    if limits.checkpoint:
        from rdma_robust.counters.parts.checkpoint import claim_folder  # noqa: PLC0415 - few need it

        asked = {name: value for name, value in asking.described().items() if name not in _LIMITS}
        claim_folder(limits.checkpoint, (source.name,), repr((type(asking).__name__, sorted(asked.items()), text)))
    return text
