"""An evaluated C program as the text of a program, with the place of the C behind every statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from rdma_robust.build import ProgramBuilder
from rdma_robust.c.automaton import CProgram, EvaluatedThread
from rdma_robust.c.text.automata_program import chain_span, initial_value, names_of, simple_threads
from rdma_robust.c.text.blocks import BasicBlock, BlockLine, basic_blocks
from rdma_robust.c.text.structured import NotStructuredError, WrittenThread, dispatched, structured
from rdma_robust.errors import Span, UsageError
from rdma_robust.text import free_name

_AT: Final = "at_block"
_WIDTH: Final = 4
"""Spaces before the place of the C, at least."""


def automata_text(given: CProgram, lines: Sequence[tuple[str, Span]] = ()) -> str:
    """Return the text of a program, whose executions are those of the automata; `lines` are further lines of the language.

    Raises UsageError for what the language has no statement for.
    """
    builder = ProgramBuilder(given.name)
    for line in given.head:
        builder.head_line(line)
    for node, words in given.nodes.items():
        builder.node(node, {word.name: initial_value(word) for word in words})
    taken = names_of(given)
    for thread in simple_threads(given):
        _add(builder, thread, taken)
    for line, span in lines:
        builder.tail_line(line, at=span)
    return _with_places(builder)


def _add(builder: ProgramBuilder, thread: EvaluatedThread, taken: set[str]) -> None:
    known = {*taken, *thread.registers, *(word for line in thread.posted for word in re.findall(r"\w+", line))}

    def fresh(wanted: str) -> str:
        return free_name(wanted, known)

    try:
        blocks, registers = basic_blocks(thread, fresh)
    except UsageError as error:
        raise UsageError(f"thread {thread.name}: {error}") from None
    statements, more = _statements(blocks, fresh)
    given = dict.fromkeys((*thread.registers, *registers, *more), 0)
    made = builder.thread(thread.name, thread.process, at=chain_span(thread.chain), **given)
    for line in thread.posted:
        made.statement(line, at=chain_span(thread.chain))
    statements.write(made, _place)


def _statements(blocks: dict[int, BasicBlock], fresh: Callable[[str], str]) -> tuple[WrittenThread, tuple[str, ...]]:
    try:
        return structured(blocks), ()
    except NotStructuredError:
        at = fresh(_AT)
        return dispatched(blocks, at), (at,)


def _place(line: BlockLine) -> Span | None:
    return None if line.edge is None else chain_span(line.edge.chain)


def _with_places(builder: ProgramBuilder) -> str:
    made = builder.source_lines()
    places = [_told(span) for span in made.origins]
    width = max((len(line) for line, place in zip(made.text, places, strict=True) if place), default=0) + _WIDTH
    return "".join(
        f"{line.ljust(width)}// {place}\n" if place else f"{line}\n" for line, place in zip(made.text, places, strict=True)
    )


def _told(span: Span | None) -> str:
    """Return the place of the C, with the calls outwards: `mailbox.c:12:2 < mailbox.c:18:21`."""
    return "" if span is None else " < ".join(f"{each.file}:{each.line}:{each.column}" for each in (span, *span.chain()))
