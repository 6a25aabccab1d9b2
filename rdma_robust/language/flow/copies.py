"""Programs with crowds, and P(n): the program with so many copies of each template.

Source: docs/theory-crowds.md, "What is decided".

Targets that ask for copies, as alternatives of what the shared part must be and how many copies must be where.

Only what never asks for the absence of a copy is coverability: `count(C at crit) >= 2`, not `count(C at crit) == 0`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import groupby
from typing import Any, Final

from rdma_robust.digraph import by_key
from rdma_robust.errors import UsageError
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Name, Unary, conj, disj, names, negate
from rdma_robust.language.flow.cfg import MAX_CELLS, MAX_STEPS, Cell, Fault, Program, Step, Thread

MOST_ALTERNATIVES: Final = 256
"""Alternatives of a target; more are refused."""

_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class AbsenceError(Exception):
    """A condition asks for the absence of copies, or counts in a way that is not decided. Carries the name of a count, and
    whether it is because it asks for few copies, or because it is no comparison with a number."""

    def __init__(self, name: str, few: bool) -> None:
        super().__init__(name)
        self.name = name
        self.few = few


class TooManyAlternativesError(Exception):
    """A condition has more than `MOST_ALTERNATIVES`."""


@dataclass(frozen=True)
class CopyRequest:
    """One alternative: `shared` is a condition without counts, `copies` are (name of a count, at least so many)."""

    shared: Expr
    copies: tuple[tuple[str, int], ...] = ()


def alternatives(condition: Expr, counts: Iterable[str]) -> tuple[CopyRequest, ...]:
    """Return the alternatives of a condition in which the names of `counts` are numbers of copies.

    Raises AbsenceError for a condition that more copies could make false, TooManyAlternativesError.
    """
    return tuple(_merged(_Reader(frozenset(counts)).read(condition, True)))


def _merged(found: list[CopyRequest]) -> Iterator[CopyRequest]:
    """Join the alternatives that ask for the same copies, and drop those that cannot be."""
    by_copies = by_key((tuple(sorted(each.copies)), each.shared) for each in found)
    for copies, parts in by_copies.items():
        if (shared := disj(*parts)) != FALSE:
            yield CopyRequest(shared, copies)


class _Reader:
    def __init__(self, counts: frozenset[str]) -> None:
        self.counts = counts

    def read(self, expr: Expr, wanted: bool) -> list[CopyRequest]:
        """Return the alternatives of `expr` being true, or false if it is not `wanted`."""
        if not any(name in self.counts for name in names(expr)):
            return [CopyRequest(expr if wanted else negate(expr))]
        match expr:
            case Unary("!", arg):
                return self.read(arg, not wanted)
            case Binary("&&" | "||" as op, left, right):
                parts = self.read(left, wanted), self.read(right, wanted)
                found = _both(*parts) if (op == "&&") is wanted else [*parts[0], *parts[1]]
                if len(found) > MOST_ALTERNATIVES:
                    raise TooManyAlternativesError
                return found
            case Name(name):
                return self._compared(name, ">=" if wanted else "<", 1)
            case Binary(op, Name(name), Const(number)) if op in _NEGATED and name in self.counts:
                return self._compared(name, op if wanted else _NEGATED[op], number)
            case Binary(op, Const(number), Name(name)) if op in _NEGATED and name in self.counts:
                op = _MIRRORED[op]
                return self._compared(name, op if wanted else _NEGATED[op], number)
            case _:
                raise AbsenceError(next(name for name in names(expr) if name in self.counts), few=False)

    def _compared(self, name: str, op: str, number: int) -> list[CopyRequest]:
        """Return the alternatives of a comparison of a count, which is never negative."""
        if op == ">":
            op, number = ">=", number + 1
        if op == "!=" and number == 0:
            op, number = ">=", 1
        if op == ">=" or (op == "!=" and number < 0):
            return [CopyRequest(TRUE) if number <= 0 or op == "!=" else CopyRequest(TRUE, ((name, number),))]
        if number < 0 or (op == "<" and number == 0):
            return []
        raise AbsenceError(name, few=True)


def _both(left: list[CopyRequest], right: list[CopyRequest]) -> list[CopyRequest]:
    found = []
    for a in left:
        for b in right:
            most = dict(a.copies)
            for name, number in b.copies:
                most[name] = max(number, most.get(name, 0))
            found.append(CopyRequest(conj(a.shared, b.shared), tuple(most.items())))
    return found


def copies_of(program: Program, numbers: Mapping[str, int]) -> Program:
    """Return P(n): in the place of each template its copies `C[1]` to `C[n]`, where n is its number in `numbers`.

    Each copy of a thread on a node of which there are many has its own node, `Client[2]` for `C[2]`, with its own words.
    Copies have the template's program points and steps, in the same order. What the program claims of itself is about any
    number of copies and is left out. Raises UsageError for a template without a number, a name that is none, a negative
    number, and more words or steps than a program may have.
    """
    names = [thread.name for thread in program.crowds]
    for name, number in numbers.items():
        if name not in names:
            raise UsageError(f"there are not any number of threads {name!r}: {', '.join(names) or 'there is no crowd'}")
        if number < 0:
            raise UsageError(f"there can be 0 or more copies of {name}, not {number}")
    if missing := [name for name in names if name not in numbers]:
        raise UsageError(f"how many copies of {missing[0]}?")
    sizes = [(numbers.get(t.name, 1), t) for t in program.threads]
    if sum(number * len(t.edges) for number, t in sizes) > MAX_STEPS or sum(number for number, _ in sizes) > MAX_CELLS:
        raise UsageError(f"that many copies have more than {MAX_STEPS} steps")
    own = {node: [_Renaming("", 0)] for node in program.nodes}
    threads: list[Thread] = []
    for thread in program.threads:
        node = thread.node if thread.node in program.many_nodes else ""
        renamings = [_Renaming(node, number) for number in range(1, numbers[thread.name] + 1)] if thread.many else []
        threads += [renaming.thread(thread) for renaming in renamings] if thread.many else [thread]
        if node:
            own[node] = renamings
    cells = [renaming(cell) for cells in _by_node(program) for renaming in own[cells[0].node] for cell in cells]
    if any(number == 0 for number in numbers.values()):
        parts = [part for thread in threads for part in (*(step.op for _, _, step in thread.edges), thread.posted)]
        read = {cell for part in parts for cell in _constants_in(part)}
        cells = [cell for cell in cells if not cell.hidden or cell in read]
    if len(cells) > MAX_CELLS:
        raise UsageError(f"that many copies have {len(cells)} words, more than {MAX_CELLS}")
    return replace(
        program,
        nodes=tuple(renaming.new(node) if renaming.node else node for node in program.nodes for renaming in own[node]),
        cells=tuple(cells),
        threads=tuple(threads),
        outcomes=(),
        expectations=(),
        invariants=(),
        many_nodes=(),
    )


def _by_node(program: Program) -> Iterator[list[Cell]]:
    """Yield the words of a program in their order, those together that stand beside one another and are of one node."""
    return (list(cells) for _, cells in groupby(program.cells, key=lambda cell: (cell.node, cell.hidden)))


def _constants_in(part: Any) -> Iterator[Cell]:
    """Yield the hidden cells of an operation, in whatever field they are."""
    match part:
        case Cell():
            yield from (part,) if part.hidden else ()
        case tuple():
            yield from (cell for each in part for cell in _constants_in(each))
        case _ if is_dataclass(part) and not isinstance(part, (Expr, Fault, type)):
            yield from (cell for f in fields(part) for cell in _constants_in(getattr(part, f.name)))
        case _:
            return


@dataclass(frozen=True, slots=True)
class _Renaming:
    """The names of copy `number`; `node` is its own node, if every copy has its own, else empty."""

    node: str
    number: int

    def new(self, name: str) -> str:
        return f"{name}[{self.number}]"

    def thread(self, thread: Thread) -> Thread:
        return replace(
            thread,
            name=self.new(thread.name),
            node=self.new(thread.node) if self.node else thread.node,
            edges=tuple((source, target, self._step(step)) for source, target, step in thread.edges),
            many=False,
            family=(thread.name, self.number),
        )

    def _step(self, step: Step) -> Step:
        return replace(step, op=self(step.op)) if self.node else step

    def __call__(self, part: Any) -> Any:
        """Return an operation, or a part of one, with the own node and its words renamed."""
        return with_cells(part, lambda cell: replace(cell, node=self._named("node", cell.node)), self._named)

    def _named(self, name: str, value: Any) -> Any:
        return self.new(self.node) if name == "node" and value == self.node else value


def with_cells(part: Any, changed: Callable[[Cell], Cell], named: Callable[[str, Any], Any] = lambda _, value: value) -> Any:
    """Return an operation, or a part of one, with other words; `named` is asked about every field of it by its name."""
    match part:
        case Cell():
            return changed(part)
        case tuple():
            return tuple(with_cells(each, changed, named) for each in part)
        case _ if is_dataclass(part) and not isinstance(part, (Expr, Fault, type)):
            made = {f.name: named(f.name, with_cells(getattr(part, f.name), changed, named)) for f in fields(part)}
            return replace(part, **made)
        case _:
            return part


def without_regions(program: Program) -> Program:
    """Return the program with all words strict."""
    return replace(
        program,
        cells=tuple(map(_strict, program.cells)),
        threads=tuple(_changed(thread, _strict) for thread in program.threads),
    )


def without_memories(program: Program) -> Program:
    """Return the program with all words in the memory beside the card that reaches them."""
    return replace(
        program,
        nodes=tuple(node for node in program.nodes if program.card_of(node) == node),
        cells=tuple(map(_beside, program.cells)),
        threads=tuple(replace(_changed(t, _beside), node=program.card_of(t.node)) for t in program.threads),
        behind=(),
    )


def _beside(cell: Cell) -> Cell:
    return replace(cell, node=cell.via, name=str(cell), via="") if cell.via else cell


def _strict(cell: Cell) -> Cell:
    return replace(cell, relaxed=False)


def _changed(thread: Thread, word: Callable[[Cell], Cell]) -> Thread:
    edges = tuple((u, v, replace(step, op=with_cells(step.op, word))) for u, v, step in thread.edges)
    return replace(thread, edges=edges, posted=with_cells(thread.posted, word))
