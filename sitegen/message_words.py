"""The words of `.mp` as a page: the table that editors have, too."""

from __future__ import annotations

from rdma_robust.messages.language.word_meanings import MEANINGS
from sitegen.text import GENERATED, cell, table

PLACES = {
    "program": "Programs",
    "contract": "Contracts",
    "expect": "Behind `expect`",
}


INTRODUCTION = f"""{GENERATED}

# Words of message programs

Every word of [`.mp`](../messages-language.md) and of [contracts](../contracts-language.md), as an editor tells it.
"""


def message_words() -> str:
    """Return the page."""
    sections = [f"## {title}\n\n" + table(("word", "written", "says"), _rows(place)) for place, title in PLACES.items()]
    return "\n".join((INTRODUCTION, *sections))


def _rows(place: str) -> list[tuple[str, str, str]]:
    return [(f"`{each.word}`", f"`{each.form}`", cell(each.says)) for each in MEANINGS if each.place == place]
