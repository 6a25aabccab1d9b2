"""Values as people read them."""

from __future__ import annotations

from typing import Final

from rdma_robust.messages.language.message_terms import Value

MOST_ELEMENTS: Final = 8
MOST_DIGITS: Final = 10**24


def shown(value: Value, most: int = MOST_ELEMENTS) -> str:
    """Return a value as people write it; of an array with more than `most` elements its beginning, and how many."""
    if isinstance(value, int):
        text = str(value) if abs(value) < MOST_DIGITS else ""
        return text or f"a number of {value.bit_length()} bits"
    parts = [shown(each, most) for each in value[:most]]
    more = [f"... {len(value)} in all"] if len(value) > most else []
    return f"[{', '.join(parts + more)}]"
