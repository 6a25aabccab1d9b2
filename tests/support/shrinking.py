"""Making a failing program smaller, by deleting lines and blocks of its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program


def shrink(program_text: str, still_fails: Callable[[str], bool]) -> str:
    """Return a smaller text for which `still_fails` is true, from which nothing more can be deleted.

    `program_text` must fail; it is expected to have one statement or declaration per line, and every brace that opens or
    closes a block of more than one line at a line's end or start. Only texts that load without errors are tried.
    """
    lines = program_text.splitlines()
    progress = True
    while progress:
        progress = False
        for candidate in _smaller(lines):
            text = "\n".join(candidate) + "\n"
            if _loads(text) and still_fails(text):
                lines = candidate
                progress = True
                break
    return "\n".join(lines) + "\n"


def _loads(text: str) -> bool:
    try:
        load_program(text, "shrunk.rdma")
    except ProgramError:
        return False
    return True


def _smaller(lines: list[str]) -> Iterator[list[str]]:
    """Yield the texts with one thing less, large things first."""
    blocks = sorted(_blocks(lines), key=lambda marks: marks[0] - marks[-1])
    for first, *_, last in blocks:
        yield lines[:first] + lines[last + 1 :]
    for marks in blocks:
        for start, end in pairwise(marks):
            yield lines[: marks[0]] + lines[start + 1 : end] + lines[marks[-1] + 1 :]
    for marks in blocks:
        for start, end in pairwise(marks[1:]):
            yield lines[:start] + lines[end:]
    for i, line in enumerate(lines):
        if not line.rstrip().endswith("{") and not line.lstrip().startswith("}"):
            yield lines[:i] + lines[i + 1 :]


def _blocks(lines: list[str]) -> Iterator[list[int]]:
    """Yield for each block the lines that open it, divide it into branches, and close it."""
    open_blocks: list[list[int]] = []
    for i, line in enumerate(lines):
        text = line.strip()
        if text.startswith("}"):
            open_blocks[-1].append(i)
            if not text.endswith("{"):
                yield open_blocks.pop()
        elif text.endswith("{"):
            open_blocks.append([i])
