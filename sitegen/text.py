"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

GENERATED = "<!-- Written by `make promote` from the code: edit the code, not this page. -->"


def cell(text: str) -> str:
    """Return plain `text` so that Markdown shows it as it is, in a table or paragraph; what is in backquotes stays code."""
    return "".join(piece if piece.startswith("`") else _escaped(piece) for piece in re.split(r"(`[^`\n]*`)", text))


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_\[\]|#])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
