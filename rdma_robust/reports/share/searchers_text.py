"""Who has made the searches of an answer, in words."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.limits import MANY


def searchers_text(threads: int, processes: int) -> str:
    """Return who has shared a search: so many processes, if there were any, else threads."""
    return f"{processes} processes, each with a part of the states" if processes else f"{threads} threads"


def shared_text(searchers: Sequence[tuple[int, int]]) -> str:
    """Return, as a sentence, who has shared the searches of an answer: the `searchers` of its limits."""
    if not searchers:
        return f"Searched in one thread: only a search of {MANY:,} states, with bounds for all counters, has more."
    told = "; others in ".join(searchers_text(*each) for each in searchers)
    return f"Searches of {MANY:,} states and more were made in {told}."
