"""Changes of what the tool looks up, for as long as a test wants them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

Patch = tuple[Any, str, Any]
"""Whose attribute of which name is something else."""


@contextmanager
def mutated(patches: tuple[Patch, ...]) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, changed in patches:
            stack.enter_context(patch.object(owner, name, changed))
        yield
