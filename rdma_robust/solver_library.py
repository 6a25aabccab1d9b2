"""z3, the extra `smt`: whether it is there, and what to say where it is missing. Only who needs it loads it."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from rdma_robust.errors import UsageError

NEEDED: Final = "pip install rdma-robust[smt]"


def has_solver() -> bool:
    """Return whether z3 is installed."""
    return find_spec("z3") is not None


def require_solver(engine: str) -> None:
    """Raise UsageError, with what to install, where z3 is missing."""
    if not has_solver():
        raise UsageError(f"--engine {engine} needs the solver z3, which is not installed: {NEEDED}")


def solver_library(engine: str) -> Any:
    """Return the module z3. Raises UsageError, with what to install, where it is missing."""
    require_solver(engine)
    return import_module("rdma_robust.guarded_z3").z3
