"""Codes of messages for people: the list of all, and one with its meaning and examples."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator

from rdma_robust.codes.known_codes import EXAMPLES, RANGES, Code


def listed(codes: Iterable[Code]) -> str:
    """Return a line for each code, under what its range is about."""
    titles = {begin: title for begin, _, title in RANGES}
    lines: list[str] = []
    for code in codes:
        title = titles.pop(code.name, None)
        if title is not None:
            lines += [*([""] if lines else []), title]
        lines.append(f"  {code.name}  {code.severity:7}  {code.title}")
    return "\n".join(lines)


def explained(code: Code, width: int) -> str:
    """Return what a code means, at most `width` characters wide, with its examples."""
    blocks = [f"{code.name}: {code.title} ({code.severity})", *_paragraphs(code.explanation, width)]
    if code.kind == "command":
        blocks += [f"Gives {code.name}:\n\n  {code.bad}", f"Does not:\n\n  {code.repaired}"]
    elif code.kind != "none":
        file = EXAMPLES[code.kind][0]
        shown = f"`rdma-robust {shlex.join(code.command(code.bad))}`"
        shown += "" if file in shown else f" beside {file}"
        blocks += [f"Gives {code.name} ({shown}):", _indented(code.bad), "Does not:", _indented(code.repaired)]
    return "\n\n".join(blocks)


def _paragraphs(text: str, width: int) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        items = paragraph.split("\n- ") if paragraph.startswith("- ") else [paragraph]
        yield "\n".join(
            textwrap.fill(
                " ".join(item.removeprefix("- ").split()),
                max(30, width),
                initial_indent="- " if len(items) > 1 else "",
                subsequent_indent="  " if len(items) > 1 else "",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for item in items
        )


def _indented(text: str) -> str:
    return textwrap.indent(text.rstrip("\n"), "  ")
