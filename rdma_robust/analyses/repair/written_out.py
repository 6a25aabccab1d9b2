"""What a repair says of programs with `for` and macros: nothing is put into those.

A statement in the block of a `for` or in a macro stands at many program points, for which one insertion may be right and
wrong at once: a poll in a macro that two threads call may wait for ever in one of them. So only places outside are tried,
and nothing is claimed about others.
"""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.analyses.repair.repairs import Repair
from rdma_robust.language.load import is_trencher, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in

OUTSIDE = (
    "nothing is put inside of a `for` or a macro, since that stands at many places; `rdma-robust fmt --expand` writes them "
    "out, and what it prints can be repaired everywhere"
)


def has_copies(text: str, file: str) -> bool:
    """Whether a thread of the program has a `for` or a call of a macro. Raises ProgramError."""
    threads = (item for item in parse_program(text, file).items if isinstance(item, ast.ThreadDeclaration))
    return any(isinstance(s, ast.For | ast.MacroCall) for thread in threads for s in statements_in(thread.body))


def outside_of_copies(repair: Repair, text: str, file: str) -> Repair:
    """Return the answer for the program in `text` as one about insertions outside of `for` and macros, if it has any."""
    if repair.status not in ("repaired", "impossible") or is_trencher(text, file) or not has_copies(text, file):
        return repair
    if repair.status == "repaired":
        reason = f"the cheapest found outside of what is written once for many places: {OUTSIDE}"
        return replace(repair, reason=reason, optimal=False, complete=False)
    return replace(repair, status="unknown", reason=f"{repair.reason}; {OUTSIDE}", optimal=False, complete=False)
