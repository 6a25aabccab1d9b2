"""The solvers of others, loaded only by who needs them: HiGHS for linear programs, made so that it says nothing; and z3, the
extra `smt`: whether it is there, and what to say where it is missing."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from rdma_robust.errors import UsageError
from rdma_robust.foreign import unheard

NEEDED: Final = "pip install z3-solver"


def has_solver() -> bool:
    """Return whether z3 is installed."""
    return find_spec("z3") is not None


def has_sat_solver() -> bool:
    """Return whether there are python-sat and numpy, which everyone has but a browser."""
    return sys.platform != "emscripten"


def require_solver(engine: str) -> None:
    """Raise UsageError, with what to install, where z3 is missing."""
    if not has_solver():
        raise UsageError(f"--engine {engine} needs the solver z3, which is not installed: {NEEDED}")


def solver_library(engine: str) -> Any:
    """Return the module z3. Raises UsageError, with what to install, where it is missing."""
    require_solver(engine)
    return import_module("rdma_robust.guarded_z3").z3


def linear_solver() -> Any:
    """Return a new solver of HiGHS, silent and for one processor.

    Some versions print a banner as soon as there is one, before they can be told not to.
    """
    import highspy  # noqa: PLC0415 -- 0.1 s, and few need it

    with unheard():
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
    return highs
