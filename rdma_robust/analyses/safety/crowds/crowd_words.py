"""What answers about any number of copies say of numbers."""

from __future__ import annotations

from collections.abc import Mapping

from rdma_robust.diagnose import listing
from rdma_robust.language.flow.cfg import Program
from rdma_robust.outcome import Copies
from rdma_robust.robustness.crowds.numbers_said import copies as so_many
from rdma_robust.robustness.crowds.numbers_said import with_numbers


def of_any(program: Program, copies: Copies | None = None) -> str:
    """Return as in "with 2 copies of C" or "for any number of copies of C"; nothing for a program without crowds."""
    if not program.crowds:
        return ""
    if copies is not None:
        return f"with {with_numbers(copies.numbers)}"
    return f"for any number of copies of {listing((thread.name for thread in program.crowds), 'and')}"


def copies_said(copies: Copies) -> str:
    """Return as in "with 2 copies of C, not with 1"."""
    total = sum(number for _, number in copies.numbers)
    said = f"with {with_numbers(copies.numbers)}"
    if not total or not copies.least:
        return said
    return f"{said}, not with {'fewer in all' if len(copies.numbers) > 1 else (total - 1 or 'none')}"


def none_up_to(done: int, names: str) -> str:
    """Return as in "not with up to 3 copies of C"."""
    return f"not with up to {so_many(done, names)}" if done else f"not without a copy of {names}"


def undecided_numbers(numbers: Mapping[str, int], why: str, names: str) -> str:
    """Return the reason where these are the first numbers that were not decided, and why they were not."""
    total = sum(numbers.values())
    if not total:
        return f"not even decided without a copy of {names}: {why}"
    return f"{none_up_to(total - 1, names)}; with {with_numbers(tuple(numbers.items()))}: {why}"
