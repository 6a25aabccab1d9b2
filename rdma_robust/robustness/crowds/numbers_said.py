"""Numbers of copies in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.diagnose import listing

NO_SMALLEST: Final = "not robust for some number of copies; the smallest was not found within the limits"
"""The reason of NOT_ROBUST without a counterexample."""

Numbers = Sequence[tuple[str, int]]


def copies(number: int, name: str) -> str:
    """Return "1 copy of C", "3 copies of C"."""
    return f"{number} cop{'y' if number == 1 else 'ies'} of {name}"


def for_any(names: Sequence[str]) -> str:
    """Return "robust for any number of copies of C and D"."""
    return f"robust for any number of copies of {listing(names, 'and')}"


def with_numbers(numbers: Numbers) -> str:
    """Return "3 copies of C"; templates of which there is none are left out."""
    some = [copies(number, name) for name, number in numbers if number]
    return listing(some, "and") if some else f"no copy of {listing(name for name, _ in numbers)}"


def not_robust(numbers: Numbers, *, least: bool) -> str:
    """Return the reason of NOT_ROBUST, found with these numbers; `least` if there is none with fewer copies in all."""
    total = sum(number for _, number in numbers)
    found = f"not robust with {with_numbers(numbers)}"
    if not total or not least:
        return found if least else f"{found}; perhaps with fewer"
    if len(numbers) > 1:
        return f"{found}; robust with fewer in all"
    ((name, _),) = numbers
    return f"{found}; robust with {total - 1 or f'no copy of {name}'}"
