"""A program of Trencher in the language of `.rdma` files: a register for the state, and a choice for each transition.

Locked sections become `swap`, `faa` or `cas` where that is what they are. Others are written by guessing the value that the
word has: a compare-and-swap with each value, or a read behind an `mfence` where nothing is written; a guess that was wrong
is made again. A wrong guess is a fenced read more. It is on no cycle that is not there without it: whatever it reads, the
section could have been taken at that moment, so the program without guesses can stop there with the section in its
place. That needs a way for every value: a section that can keep the memory locked is not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.errors import Span, UsageError
from rdma_robust.expr import (
    FALSE,
    TRUE,
    VALUE,
    Binary,
    Const,
    Expr,
    Name,
    Unary,
    conj,
    conjunction_parts,
    disj,
    names,
    substitute,
)
from rdma_robust.language.flow.cfg import Cell, Edge, MFence, Program, Read, Rmw, Section, Silent, Step, Thread, Write
from rdma_robust.language.flow.valid_expressions import proven

MOST_GUESSES: Final = 64
_TAKEN: Final = re.compile(r"m_?[0-9]+|pc|got|kept[0-9]*|M", re.ASCII)


def as_rdma(program: Program, source_name: str) -> str:
    """Return the text of a program that :mod:`trencher_reader` has read.

    Raises UsageError with a line for a section that the language cannot express, and for values that were not followed.
    """
    return (
        "\n".join([*_head(program, source_name), *(line for t in program.threads for line in _Writer(program, t).lines())])
        + "\n"
    )


def _head(program: Program, source_name: str) -> Iterator[str]:
    low, high = program.domain or (0, 0)
    most = max(len(thread.points) for thread in program.threads) - 1
    yield f"// from {source_name}"
    yield "hardware cpu tso"
    yield f"domain {low}..{max(high, most)}"
    yield f"node {program.nodes[0]} {{ {', '.join(cell.name for cell in program.cells)} }}"
    for claim in program.expectations:
        yield f"expect {claim.text}"


@dataclass
class _Writer:
    """One thread; program point k is `pc == k`, and the thread ends at point 0."""

    program: Program
    thread: Thread
    kept: int = 0
    names: dict[str, Expr] = field(default_factory=dict)

    def lines(self) -> list[str]:
        taken = {name for name, _ in self.thread.registers}
        for name in sorted(taken):
            other = name
            while _TAKEN.fullmatch(other) or (other != name and other in taken):
                other += "_"
            self.names[name] = Name(other)
            taken.add(other)
        branches = [branch for point in self.thread.points for branch in self._branches(point)]
        registers = [*(self._text(Name(name)) for name, _ in self.thread.registers), "got"]
        registers += [f"kept{k}" for k in range(self.kept)]
        body = "\n    } or {\n".join("\n".join(f"      {line}" for line in branch) for branch in branches)
        choice = [] if not branches else [f"    choose {{\n{body}\n    }}"] if len(branches) > 1 else [body]
        head = [
            f"thread {self.thread.name} on {self.thread.node} {{",
            f"  reg pc = {self.thread.entry}, {', '.join(registers)}",
        ]
        return [*head, "  while pc != 0 {", *(choice or ["    assume 0 == 1"]), "  }", "}"]

    def _branches(self, point: int) -> Iterator[list[str]]:
        leaving = [edge for edge in self.thread.edges if edge[0] == point]
        asking: dict[tuple[Cell, Expr], list[Edge]] = {}
        for edge in leaving:
            _, target, step = edge
            if step.fault is not None:
                raise UsageError(f"line {step.span.line}: {step.fault.message}: it is not written")
            if isinstance(step.op, Rmw):
                here, of_value = _parts(step.guard)
                asking.setdefault((step.op.cell, here), []).append((point, target, replace(step, guard=of_value)))
            else:
                yield [self._assume(point, step.guard), *self._plain(step), f"pc = {target}"]
        for (cell, here), edges in asking.items():
            yield from self._atomic(point, cell, here, edges)

    def _assume(self, point: int, guard: Expr) -> str:
        return f"assume {self._text(conj(Binary('==', Name('pc'), Const(point)), guard))}"

    def _plain(self, step: Step) -> list[str]:
        match step.op:
            case Write(cell, value):
                return [f"{cell.name} = {self._text(value)}"]
            case Read(cell):
                return [f"{self._text(Name(step.assigns[0][0]))} = {cell.name}"]
            case MFence():
                return ["mfence"]
            case Silent():
                return self._assigned(step.assigns)
            case Section(cells):
                words = ", ".join(cell.name for cell in cells)
                what = f"a locked section of several locations ({words}) has no words in `.rdma` programs"
                raise UsageError(f"line {step.span.line}: {what}; `check` and `repair` decide it as it is")
        raise UsageError(f"line {step.span.line}: this is not written")

    def _assigned(self, assigns: tuple[tuple[str, Expr], ...]) -> list[str]:
        """The statements that do what assigns do all at once; VALUE is in `got`."""
        if len(assigns) < 2:
            return [f"{self._text(Name(name))} = {self._text(value)}" for name, value in assigns]
        self.kept = max(self.kept, len(assigns))
        first = [f"kept{k} = {self._text(value)}" for k, (_, value) in enumerate(assigns)]
        return first + [f"{self._text(Name(name))} = kept{k}" for k, (name, _) in enumerate(assigns)]

    def _atomic(self, point: int, cell: Cell, here: Expr, edges: list[Edge]) -> Iterator[list[str]]:
        always = [edge for edge in edges if edge[2].guard == TRUE]
        rest = [edge for edge in edges if edge[2].guard != TRUE]
        for edge in always:
            call = _call(edge[2].op, self)
            if call is None:
                yield from self._guessed(point, here, cell, [edge])
            else:
                yield [self._assume(point, here), *call, *self._assigned(edge[2].assigns), f"pc = {edge[1]}"]
        if rest and (swap := self._compare_and_swap(cell, rest)) is not None:
            yield [self._assume(point, here), *swap]
        elif rest:
            yield from self._guessed(point, here, cell, rest)

    def _compare_and_swap(self, cell: Cell, edges: list[Edge]) -> list[str] | None:
        """Return a compare-and-swap and what follows, if two ways are one: the word is as expected and written, or not."""
        if len(edges) != 2:
            return None
        for (_, yes, same), (_, no, other) in (edges, edges[::-1]):
            match same.guard, other.guard:
                case (Binary("==", left, right), Binary("!=", left2, right2)) if (left, right) == (left2, right2):
                    expected = right if left == VALUE else left
                    written = same.op.new if isinstance(same.op, Rmw) else VALUE
                    single = VALUE in (left, right) and not _of_value(expected) and not _of_value(written)
                    if single and isinstance(other.op, Rmw) and other.op.when == FALSE and same.op != other.op:
                        return [
                            f"got = cas({cell.name}, {self._text(expected)}, {self._text(written)})",
                            f"if got == {self._text(expected)} {{",
                            *(f"  {line}" for line in (*self._assigned(same.assigns), f"pc = {yes}")),
                            "} else {",
                            *(f"  {line}" for line in (*self._assigned(other.assigns), f"pc = {no}")),
                            "}",
                        ]
        return None

    def _guessed(self, point: int, here: Expr, cell: Cell, edges: list[Edge]) -> Iterator[list[str]]:
        low, high = self.program.domain or (0, 0)
        if high - low >= MOST_GUESSES:
            raise UsageError(f"{_line(edges)}: it depends on a location of more than {MOST_GUESSES} values")
        for value in range(low, high + 1):
            by = {VALUE.name: Const(value)}
            if not proven(here, disj(*(substitute(step.guard, by) for _, _, step in edges))):
                what = "a thread may keep the memory locked, which `.rdma` programs cannot; `check` decides it as it is"
                raise UsageError(f"{_line(edges)}: {what}")
            for _, target, step in edges:
                guard, op = substitute(step.guard, by), step.op
                if guard == FALSE or not isinstance(op, Rmw):
                    continue
                written = f"got = cas({cell.name}, {value}, {self._text(substitute(op.new, by))})"
                access = ["mfence", f"got = {cell.name}"] if op.when == FALSE else [written]
                then = [*self._assigned(step.assigns), f"pc = {target}"]
                yield [
                    self._assume(point, conj(here, guard)),
                    *access,
                    f"if got == {value} {{",
                    *(f"  {s}" for s in then),
                    "}",
                ]

    def _text(self, expr: Expr) -> str:
        return _written(substitute(expr, {**self.names, VALUE.name: Name("got")}))


def _line(edges: list[Edge]) -> str:
    span: Span = edges[0][2].span
    return f"line {span.line}"


def _call(op: object, writer: _Writer) -> list[str] | None:
    """Return the statement that is an atomic step which is always taken, None if there is none."""
    if not isinstance(op, Rmw):
        return None
    if op.when == FALSE:
        return ["mfence", f"got = {op.cell.name}"]
    if not _of_value(op.new):
        return [f"got = swap({op.cell.name}, {writer._text(op.new)})"]
    match op.new:
        case Binary("+", value, by) | Binary("+", by, value) if value == VALUE and not _of_value(by):
            return [f"got = faa({op.cell.name}, {writer._text(by)})"]
        case Binary("-", value, by) if value == VALUE and not _of_value(by):
            return [f"got = faa({op.cell.name}, {writer._text(Unary('-', by))})"]
    return None


def _of_value(expr: Expr) -> bool:
    return VALUE.name in set(names(expr))


def _parts(guard: Expr) -> tuple[Expr, Expr]:
    """Return what a condition says of registers alone, and what it says of the word."""
    parts = list(conjunction_parts(guard))
    return conj(*(p for p in parts if not _of_value(p))), conj(*(p for p in parts if _of_value(p)))


def _written(expr: Expr) -> str:
    match expr:
        case Const(value):
            return str(value) if value >= 0 else f"({value})"
        case Name(name):
            return name
        case Unary(op, arg):
            return f"{op}({_written(arg)})"
        case Binary(op, left, right):
            return f"({_written(left)} {op} {_written(right)})"
    raise UsageError("an expression that is not written")
