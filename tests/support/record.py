"""`python -m tests.support.record docs/tutorial.md ...` writes into documents what their commands print now.

Only for changes that are wanted, as of numbers of states: read the difference before you commit it. Where only times differ
they stay.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support.documents import FENCE, ROOT, Block, blocks, commands, without_times
from tests.support.reader import Reader
from tests.support.terminal import Terminal


def recorded(document: Path, terminal: Terminal) -> str:
    """Return the text of `document` with what its commands and Python blocks print. Raises ValueError for other mistakes."""
    text = document.read_text(encoding="utf-8")
    reader = Reader(terminal)
    bodies = [_body(reader, block) for block in blocks(document)]
    parts = []
    position = 0
    for fence, body in zip(FENCE.finditer(text), bodies, strict=True):
        start, end = fence.span("body")
        parts += [text[position:start], re.sub(r"^(?=.)", fence["indent"], body, flags=re.MULTILINE)]
        position = end
    return "".join([*parts, text[position:]])


def _body(reader: Reader, block: Block) -> str:
    """Return what `block` should be."""
    if block.language == "console" and block.title is None:
        reader.printed = None
        return "".join(f"$ {command}\n{_kept(shown, reader.terminal.run(command))}" for command, shown in commands(block))
    if block.language == "text" and block.title is None and block.follows and reader.printed is not None:
        printed, reader.printed = reader.printed, None
        return _kept(block.body, printed)
    wrong = list(reader.follow(block))
    if wrong:
        raise ValueError("\n".join(wrong))
    return block.body


def _kept(shown: str, printed: str) -> str:
    """Return `shown` if only times differ, else `printed` with one line end behind it."""
    if without_times(shown) == without_times(printed):
        return shown
    return f"{printed.rstrip()}\n" if printed.strip() else ""


def main() -> None:
    for name in sys.argv[1:]:
        document = ROOT / name
        with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
            text = recorded(document, Terminal(Path(folder), patch))
        document.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
