"""The program of the language that an evaluated C program is: a thread for each automaton, a step for each edge.

Its source is its canonical listing, as that of every program of automata: what edits text refuses it. A step names the place
of the C that it comes from, and the calls outwards, as what it was expanded from. What nobody sees is left out
(`simplified.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.build import AutomatonBuilder, Initial, ProgramBuilder, Relaxed, Sync
from rdma_robust.c.automaton import CProgram, EvaluatedThread, ThreadEdge, WordPlace
from rdma_robust.c.code import SourcePlace
from rdma_robust.c.evaluate.spelling import RESERVED
from rdma_robust.c.front.written_text import call_at
from rdma_robust.c.text.simplified import guard_condition, simplified, waiting
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.flow.cfg import Fault, Program, Step

_END: Final = "end"
_HALT: Final = "halt"
_SILENT: Final = "skip"


def evaluated_program(given: CProgram, file: str, lines: Sequence[tuple[str, Span]] = ()) -> Program:
    """Return the checked program of the automata; `file` is the C file, as messages name it. `lines` are further lines of
    the language, such as `expect robust`, each with its place.

    Raises ProgramError where a statement is none of the language, with its place in the C.
    """
    builder = ProgramBuilder(given.name)
    for line in given.head:
        builder.head_line(line)
    for node, words in given.nodes.items():
        builder.node(node, {word.name: initial_value(word) for word in words})
    for thread in simple_threads(given):
        _add(builder, thread)
    for line, span in lines:
        builder.tail_line(line, at=span)
    return _with_claims(_with_said(given, builder.program(file)))


def _with_said(given: CProgram, program: Program) -> Program:
    """Return the program with what steps say of synchronisation: those of a statement at a place."""
    threads = []
    for thread, evaluated in zip(program.threads, given.threads, strict=True):
        said = {
            (each.statement, chain_span(each.chain)): each.synchronises
            for edges in evaluated.edges.values()
            for each in edges
            if each.synchronises
        }
        edges = [
            (a, b, replace(step, synchronises=said.get((step.text, step.span.origin), ""))) for a, b, step in thread.edges
        ]
        threads.append(replace(thread, edges=tuple(edges)))
    return replace(program, threads=tuple(threads))


def _with_claims(program: Program) -> Program:
    """Return the program with its claims in the words of the C, `RR_ASSERT(box.data == 42)`, where those are seen; what one
    statement asserts is one claim, however many ways through its `&&` and `||` may fail."""
    known: dict[tuple[str, tuple[tuple[str, int, int], ...]], Fault] = {}

    def worded(thread: str, step: Step) -> Step:
        origin, fault = step.span.origin or NO_SPAN, step.fault
        if not step.text.startswith("assert ") or not (said := call_at(origin.file, origin.line, origin.column)):
            return step
        if fault is None:
            return replace(step, text=said)
        made = replace(fault, message=f"assertion `{said}` fails", text=said)
        return replace(step, text=said, fault=known.setdefault((thread, origin.beginning), made))

    threads = []
    for thread in program.threads:
        edges = tuple((source, target, worded(thread.name, step)) for source, target, step in thread.edges)
        threads.append(replace(thread, edges=edges))
    return replace(program, threads=tuple(threads))


def simple_threads(given: CProgram) -> tuple[EvaluatedThread, ...]:
    """Return the threads of a program without what nobody sees."""
    taken = names_of(given)
    return tuple(waiting(simplified(each), given.nodes, {*taken, *each.registers}) for each in given.threads)


def names_of(given: CProgram) -> set[str]:
    """Return the names that no register or lane can have that is added: keywords, nodes, words, threads, and lanes."""
    words = [word.name for words in given.nodes.values() for word in words]
    lanes = [word for each in given.threads for line in each.posted for word in re.findall(r"\w+", line)]
    return {*RESERVED, *given.nodes, *words, *lanes, *(each.name for each in given.threads)}


def initial_value(word: WordPlace) -> Initial:
    """Return what a word begins with, as the builder takes it."""
    found = Relaxed(word.initial) if "relaxed" in word.qualifiers else word.initial
    return Sync(found) if "sync" in word.qualifiers else found


def _add(builder: ProgramBuilder, thread: EvaluatedThread) -> None:
    """Add a thread: its declarations, and the edges of the locations that it can come to."""
    start = "0" if thread.edges.get(0) else _END
    registers = dict.fromkeys(thread.registers, 0)
    begin = "begin" if start == _END else start
    made = builder.automaton(thread.name, thread.process, begin, _END, at=chain_span(thread.chain), **registers)
    for line in thread.posted:
        made.declaration(line, at=chain_span(thread.chain))
    if start == _END:
        made.edge(begin, _END)
    todo, seen = [0], {0}
    while todo:
        here = todo.pop()
        for each in thread.edges.get(here, ()):
            _add_edge(made, thread.edges, here, each)
            if each.to not in seen and each.statement != _HALT:
                seen.add(each.to)
                todo.append(each.to)


def _add_edge(made: AutomatonBuilder, edges: Mapping[int, tuple[ThreadEdge, ...]], here: int, each: ThreadEdge) -> None:
    halts = each.statement == _HALT
    to = str(each.to) if edges.get(each.to) and not halts else _END
    action = _SILENT if halts or not each.statement else each.statement
    when = "" if each.guard is None else guard_condition(each.guard)
    made.edge(str(here), to, action, when=when, at=chain_span(each.chain))


def chain_span(chain: Sequence[SourcePlace]) -> Span | None:
    """Return the innermost place of a chain with the others as its origins, None of an empty chain."""
    span: Span | None = None
    for place in reversed(chain):
        line, column = place.end_line or place.line, place.end_column or place.column + 1
        span = Span(place.line, place.column, line, column, 0, 0, place.file, span)
    return span
