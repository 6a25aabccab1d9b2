"""What commands with questions do with their inputs alike: limits of each, what is explained, where certificates go."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.cli.options.arguments import memory_limit
from rdma_robust.frame.shell.defaults import processors
from rdma_robust.frame.shell.inputs import Item


def memory_each(memory: int | None, jobs: int | None, items: Sequence[Item]) -> int | None:
    """Return the mebibytes of one of the inputs, as many of which are answered at a time as there are `jobs`."""
    return memory_limit(memory, min(jobs or processors(), len(items)))


def explains(items: Sequence[Item], explain: bool | None) -> bool:
    """Return whether answers are explained: if nothing is said about it, that of an only input is."""
    return len(items) == 1 if explain is None else explain


def certified(items: list[Item], folder: str | None) -> list[Item]:
    """Return the inputs with files in a folder, if there is one, for their certificates. Raises UsageError if it is none."""
    if folder is None:
        return items
    from rdma_robust.questions.certificate_files import with_certificates  # noqa: PLC0415 - slow, and seldom wanted

    return with_certificates(items, folder)
