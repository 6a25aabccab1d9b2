"""Pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

GENERATED = "<!-- Written by `make promote` from the code: edit the code, not this page. -->"


def cell(text: str) -> str:
    """Return plain `text` so that Markdown shows it as it is, in a table or paragraph; what is in backquotes stays code,
    and a link to a page, as `[which](proof-tables.md)`, a link.

    The name of a page, as docs/model.md, becomes a link from docs/reference.
    """
    pieces = re.split(r"(`[^`\n]*`|\[[^\[\]\n]*\]\([a-z-]+\.md\))", text)
    return "".join(_escaped(piece) if k % 2 == 0 else piece for k, piece in enumerate(pieces))


def _escaped(text: str) -> str:
    plain = re.sub(r"([\\*_\[\]|#])", r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"\bdocs/([a-z-]+\.md)", r"[\1](../\1)", plain)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
