"""The argument of --reductions: which reductions of the search are on."""

from __future__ import annotations

from rdma_robust.errors import UsageError
from rdma_robust.options import ALL_REDUCTIONS, REDUCTIONS

HELP = (
    "Reductions of the search: `all`, `none`, or names separated by commas, `-` in front of a name takes it away "
    f"(`-por` is all but por): {', '.join(REDUCTIONS)}."
)


def parse_reductions(text: str) -> frozenset[str]:
    """Return the set of names that `text` asks for. Raises UsageError for an unknown name."""
    items = [item.strip() for item in text.split(",")]
    chosen = set(ALL_REDUCTIONS) if items[0].startswith("-") else set()
    for item in items:
        name = item.removeprefix("-")
        if item in ("all", "none"):
            chosen = set(ALL_REDUCTIONS) if item == "all" else set()
        elif name not in REDUCTIONS:
            known = ", ".join(("all", "none", *REDUCTIONS))
            raise UsageError(f"--reductions: no reduction is called {name!r}; the names are {known}")
        elif item.startswith("-"):
            chosen.discard(name)
        else:
            chosen.add(name)
    return frozenset(chosen)
