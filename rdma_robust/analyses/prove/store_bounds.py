"""Bounds on the stores that a buffer can hold, and buffers as finite variables.

What the text says of their number, and where one store stands for many.

**Like stores.** Let nobody but thread T ever write the word x. Two stores of T of the same value to x, next to each other in
a buffer of T (of those to x, where each word has a buffer), are as good as one: when the first has reached memory, x has
that value until the second has reached it too, for T and for everybody else. So a run in which the second waits is one
in which it lands directly after the first, and a run with one of them is one in which both land at once. Only the number of
stores in the buffer differs, which nobody can see but by its being empty, and it can be emptied as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.counters.program import Assign, Require, Statement
from rdma_robust.digraph import components
from rdma_robust.expr import FALSE, Const, Expr, Ite, Name, conj, disj, equals, negate
from rdma_robust.language.flow.cfg import Cas, Cell, MFence, Program, RemoteOp, Rmw, Section, Step, Thread, Write, steps

Writers = Mapping[Cell, tuple[int, ...]]
"""The numbers of the threads that ever write a word, by CPU or card, in the order of the words."""


def written_by(program: Program) -> Writers:
    """Return who writes the words that anybody writes."""
    found: dict[Cell, dict[int, None]] = {}
    for t, thread in enumerate(program.threads):
        for _, _, step in thread.edges:
            for cell in _written(step):
                found.setdefault(cell, {})[t] = None
    return {cell: tuple(found[cell]) for cell in program.cells if cell in found}


def _written(step: Step) -> tuple[Cell, ...]:
    match step.op:
        case Write(cell) | Cas(cell) | Rmw(cell):
            return (cell,)
        case Section(cells, writes):
            return tuple(cells[k] for k, _ in writes)
        case op if isinstance(op, RemoteOp):
            return (op.source,) if op.target is None else (op.target, op.source)
        case _:
            return ()


def written_alone(program: Program) -> frozenset[Cell]:
    """Return the words that only one thread ever writes."""
    return frozenset(cell for cell, threads in written_by(program).items() if len(threads) == 1)


def most_stores(program: Program, *, per_word: bool) -> int | None:
    """Return how many stores a buffer can hold at most by what the text says, None if a loop may store without a fence.

    With a buffer for each word only stores to one word count together.
    """
    most = 0
    for thread in program.threads:
        cells = {step.op.cell for _, _, step in thread.edges if isinstance(step.op, Write)}
        parts = [frozenset({cell}) for cell in cells] if per_word else [frozenset(cells)]
        for part in parts:
            longest = _longest(thread, part)
            if longest is None:
                return None
            most = max(most, longest)
    return most


def _longest(thread: Thread, cells: frozenset[Cell]) -> int | None:
    """Return the most stores to these words on a path of a thread without a fence, None if there is no such number."""
    graph: dict[int, list[tuple[int, int]]] = {}
    for source, target, step in thread.edges:
        if not isinstance(step.op, MFence | Cas | Rmw | Section):
            stores = isinstance(step.op, Write) and step.op.cell in cells
            graph.setdefault(source, []).append((target, int(stores)))
            graph.setdefault(target, [])
    longest: dict[int, int] = {}
    for members in components({source: [target for target, _ in after] for source, after in graph.items()}):
        inside = set(members)
        if any(stores and target in inside for source in members for target, stores in graph[source]):
            return None
        behind = [longest[target] + stores for source in members for target, stores in graph[source] if target not in inside]
        longest |= dict.fromkeys(members, max(behind, default=0))
    return max(longest.values(), default=0)


@dataclass(frozen=True)
class BufferVariables:
    """The stores of thread `thread` to `cells`, the oldest first; a place without a store has the word 0.

    Of stores to a word of `folded`, which nobody else writes, one stands for like ones next to each other (`store_bounds`).
    """

    thread: int
    name: str
    cells: tuple[Cell, ...]
    room: int
    folded: frozenset[Cell]
    bit: int

    def variables(self) -> Iterator[tuple[str, int]]:
        """Yield the names of all variables, each with its value at the start."""
        for place in range(self.room):
            yield f"{self.name}:word{place}", 0
            yield f"{self.name}:value{place}", 0

    def word(self, place: int) -> Expr:
        return Name(f"{self.name}:word{place}") if place < self.room else Const(0)

    def value(self, place: int) -> Expr:
        return Name(f"{self.name}:value{place}") if place < self.room else Const(0)

    def number(self, cell: Cell) -> Const:
        return Const(1 + self.cells.index(cell))

    @property
    def empty(self) -> Expr:
        return equals(self.word(0), Const(0))

    def loaded(self, cell: Cell, memory: Expr) -> Expr:
        """Return the value of the newest store to a word, else what memory has."""
        found = memory
        for place in range(self.room):
            found = Ite(equals(self.word(place), self.number(cell)), self.value(place), found)
        return found

    def stored(self, cell: Cell, value: Expr) -> tuple[Expr, tuple[tuple[str, Expr], ...]]:
        """Return whether there is no room for a store, and what it changes where there is."""
        like: Expr = FALSE
        if cell in self.folded:
            newest = (
                conj(
                    equals(self.word(place), self.number(cell)),
                    equals(self.word(place + 1), Const(0)),
                    equals(self.value(place), value),
                )
                for place in range(self.room)
            )
            like = disj(*newest)
        changed: list[tuple[str, Expr]] = []
        for place in range(self.room):
            free = conj(
                equals(self.word(place), Const(0)), Const(1) if not place else negate(equals(self.word(place - 1), Const(0)))
            )
            takes = conj(free, negate(like))
            changed.append((f"{self.name}:word{place}", Ite(takes, self.number(cell), self.word(place))))
            changed.append((f"{self.name}:value{place}", Ite(takes, value, self.value(place))))
        full = conj(negate(equals(self.word(self.room - 1), Const(0))), negate(like))
        return full, tuple(changed)

    def landing(self, cell: Cell) -> tuple[Statement, ...]:
        """Return what the move does in which the oldest store, one to this word, reaches memory."""
        shifted: list[tuple[str, Expr]] = [(str(cell), self.value(0))]
        for place in range(self.room):
            shifted.append((f"{self.name}:word{place}", self.word(place + 1)))
            shifted.append((f"{self.name}:value{place}", self.value(place + 1)))
        return Require(equals(self.word(0), self.number(cell))), Assign(tuple(shifted))


def queues_of(program: Program, room: int, bits: Iterator[int], *, per_word: bool) -> list[Sequence[BufferVariables]]:
    """Return the queues of each thread: one for all that it stores to, or one for each word; `bits` has a mask for each."""
    alone = written_alone(program)
    found: list[Sequence[BufferVariables]] = []
    for t, thread in enumerate(program.threads):
        cells = tuple(dict.fromkeys(step.op.cell for _, _, step in steps(thread) if isinstance(step.op, Write)))
        parts = [(cell,) for cell in cells] if per_word else [cells] if cells else []
        found.append(
            [BufferVariables(t, f"{thread.name}#{i}", part, room, alone, next(bits)) for i, part in enumerate(parts)]
        )
    return found
