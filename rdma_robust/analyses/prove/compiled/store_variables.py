"""Store buffers as finite variables: for each queue of stores, which word and which value is at each of its places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rdma_robust.analyses.prove.store_bounds import written_alone
from rdma_robust.counters.program import Assign, Require, Statement
from rdma_robust.expr import FALSE, Const, Expr, Ite, Name, conj, disj, equals, negate
from rdma_robust.language.flow.cfg import Cell, Program, Write, steps


@dataclass(frozen=True)
class Queue:
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


def queues_of(program: Program, room: int, bits: Iterator[int], *, per_word: bool) -> list[Sequence[Queue]]:
    """Return the queues of each thread: one for all that it stores to, or one for each word; `bits` has a mask for each."""
    alone = written_alone(program)
    found: list[Sequence[Queue]] = []
    for t, thread in enumerate(program.threads):
        cells = tuple(dict.fromkeys(step.op.cell for _, _, step in steps(thread) if isinstance(step.op, Write)))
        parts = [(cell,) for cell in cells] if per_word else [cells] if cells else []
        found.append([Queue(t, f"{thread.name}#{i}", part, room, alone, next(bits)) for i, part in enumerate(parts)])
    return found
