"""Remarks on answers about recorded runs: of which runs they speak, and what may make them impossible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdma_robust.frame.answer import DiagnosticView


def recorded_remarks(warnings: Iterable[DiagnosticView], *, bad: bool) -> Iterator[str]:
    """Yield the remarks for a program with these warnings, whose answer is `bad` (not robust, a race) or good."""
    for each in warnings:
        if each.code == "RR851" and not bad:
            yield "about this way through the program"
        elif each.code == "RR852" and bad:
            yield f"unless {each.message.partition(' may order ')[0]} orders threads"
