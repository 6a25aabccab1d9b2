"""Numbers of files in prose, `<!-- count litmus/*.rdma -->355 programs`: what is behind the comment is written by the tool.

The comment must not begin a line, where Markdown takes it for a block of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
COUNT: Final = re.compile(r"<!-- count (?P<pattern>\S+) -->(?P<number>[\d,]+)")


def pages_with_counts() -> list[Path]:
    """Return the pages by hand in which a number is written by the tool."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in pages if COUNT.search(page.read_text(encoding="utf-8"))]


def counted(text: str) -> str:
    """Return `text` with the numbers as they are now. Raises ValueError for a pattern of which there is no file."""

    def number(found: re.Match[str]) -> str:
        pattern = found["pattern"]
        if not (files := sum(path.is_file() for path in ROOT.glob(pattern))):
            raise ValueError(f"no file is called {pattern}")
        return f"<!-- count {pattern} -->{files:,}"

    return COUNT.sub(number, text)
