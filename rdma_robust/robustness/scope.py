"""What is decided how: which operations and models the search knows, and which only brute force over the axioms.

Source: deployed.md, parts 4 and 7.
"""

from __future__ import annotations

from typing import Final, Literal

from rdma_robust.language.flow.cfg import Program, RemoteRmw, steps
from rdma_robust.model import Model

Way = Literal["search", "axioms"]

UNSEARCHED: Final[frozenset[type]] = frozenset({RemoteRmw})
"""Operations that the search does not know."""


def way_to_decide(model: Model, program: Program | None = None) -> Way:
    """Return how robustness (of `program`) is decided under `model`."""
    used = set() if program is None else {type(step.op) for thread in program.threads for _, _, step in steps(thread)}
    return "search" if model.has_normal_form and not used & UNSEARCHED else "axioms"
