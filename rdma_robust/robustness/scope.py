"""What is decided how: which operations and models the search knows, and which only brute force over the axioms.

Source: deployed.md, parts 4 and 7.
"""

from __future__ import annotations

from typing import Final, Literal

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import ImmPut, InlinePut, Program, Recv, RecvPoll, RemoteRmw, Send, steps
from rdma_robust.model import Model

Way = Literal["search", "axioms"]

UNSEARCHED: Final[frozenset[type]] = frozenset({RemoteRmw, InlinePut, Send, ImmPut, Recv, RecvPoll})
"""Operations that the search does not know."""

UNJUDGED: Final[frozenset[type]] = UNSEARCHED
"""Operations that the axioms do not know."""


def way_to_decide(model: Model, program: Program | None = None) -> Way:
    """Return how robustness (of `program`) is decided under `model`. Raises UsageError if nothing knows an operation."""
    used = set() if program is None else {type(step.op) for thread in program.threads for _, _, step in steps(thread)}
    unsignaled = program is not None and any(
        not getattr(step.op, "signaled", True) for thread in program.threads for _, _, step in steps(thread)
    )
    if used & UNJUDGED or unsignaled:
        names = ", ".join(sorted(op.__name__ for op in used & UNJUDGED)) or "unsignaled operations"
        raise UsageError(f"robustness is not decided yet for {names}")
    return "search" if model.has_normal_form and not used & UNSEARCHED else "axioms"
