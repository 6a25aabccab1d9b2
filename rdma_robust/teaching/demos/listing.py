"""The lines of a program that declare a thread."""

from __future__ import annotations

import re

from rdma_robust.language.flow.cfg import Program, Thread, steps
from rdma_robust.reports.share.coloured import Line, coloured_lines


def thread_lines(program: Program, thread: Thread) -> tuple[Line, ...]:
    """Return the lines of the program that declare `thread`; none if the program has no text."""
    lines = coloured_lines(program.source, "rdma") if program.source else ()
    texts = ["".join(piece for _, piece in line.pieces) for line in lines]
    spans = [step.span for _, _, step in steps(thread)]
    head = re.compile(rf"\bthread\s+{re.escape(thread.name)}\b")
    first = next((n for n, text in enumerate(texts, 1) if head.search(text.partition("//")[0])), 0)
    first = first or min((span.line for span in spans), default=1)
    last = max((span.end_line for span in spans), default=first)
    while last < len(lines) and "}" in texts[last] and not texts[last].replace("}", "").strip():
        last += 1
    return lines[first - 1 : last]
