"""Refusals of evaluation: an exception at the place where it is found, and the diagnostic of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdma_robust.c.code import SourcePlace
from rdma_robust.errors import NO_SPAN, Diagnostic, Span


class Refusal(Exception):
    """A refusal of what a program does and is not understood: code, message, and what to do. The machine adds where.

    One that `follows` may come of another one, and is told only where there is no other.
    """

    def __init__(self, code: str, message: str, hint: str = "", *, follows: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.follows = code, message, hint, follows


class RunEnds(Exception):
    """A run ends here: it would leave the values that RR_VALUES gives words."""


def span_of(chain: Sequence[SourcePlace]) -> Span:
    """Return the innermost place of a chain, with the others as its origins."""
    span = None
    for place in reversed(chain):
        here = Span(
            place.line, place.column, place.end_line or place.line, place.end_column or place.column + 1, 0, 0, place.file
        )
        span = replace(here, origin=span)
    return span or NO_SPAN


def diagnostic(each: Refusal, chain: Sequence[SourcePlace]) -> Diagnostic:
    """Return what is said of a refusal at a place."""
    return Diagnostic("error", each.code, each.message, span_of(chain), hint=each.hint)
