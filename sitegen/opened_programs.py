"""Programs of the pages as links to the playground of the same site."""

from __future__ import annotations

import re
from textwrap import dedent

from rdma_robust.teaching.exercises import course
from rdma_robust.teaching.playground.page_questions import SharedProgram, fragment_of

BLOCK = re.compile(r"^(?P<indent> *)```(?P<kind>rdma|mp)\b[^\n]*\n(?P<text>.*?\n)(?P=indent)```$", re.MULTILINE | re.DOTALL)


def with_links(markdown: str, top: str) -> str:
    """Return a page that has a link behind each block with a program, into the playground below `top`. A program of the
    exercises is opened with its task."""
    exercises = {each.program: each.name for each in course()}

    def linked(block: re.Match[str]) -> str:
        text = dedent(block["text"])
        shared = SharedProgram(text, block["kind"], "verdict", exercise=exercises.get(text, ""))
        place = f"{top}playground/index.html#{fragment_of(shared)}"
        said = "Open the exercise in the playground" if shared.exercise else "Open in the playground"
        return f'{block[0]}\n\n{block["indent"]}<p class="rr-open"><a href="{place}">{said}</a></p>\n'

    return BLOCK.sub(linked, markdown)
