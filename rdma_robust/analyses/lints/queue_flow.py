"""What a thread has outstanding on its queue pairs, along all paths of its graph, values ignored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Cell, Program, Step, Thread
from rdma_robust.semantics.event_table import Agent, acts_of, completes_on, polls_of

Edge = tuple[int, int, Step]


@dataclass(frozen=True)
class Others:
    """The words that are written, and those that are read, by anyone but the CPU of each thread (None: by nobody's CPU)."""

    writers: dict[Cell, frozenset[int | None]]
    readers: dict[Cell, frozenset[int | None]]

    @staticmethod
    def of(program: Program) -> Others:
        """Return who uses the words of a program: the numbers of threads by their CPUs, None for any card."""
        writers: dict[Cell, set[int | None]] = {}
        readers: dict[Cell, set[int | None]] = {}
        for number, thread in enumerate(program.threads):
            for _, _, step in thread.edges:
                for act in acts_of(step.op):
                    by = number if act.agent is Agent.CPU else None
                    for cell in act.reads:
                        readers.setdefault(cell, set()).add(by)
                    for cell, _ in act.writes:
                        writers.setdefault(cell, set()).add(by)
        return Others({c: frozenset(w) for c, w in writers.items()}, {c: frozenset(r) for c, r in readers.items()})

    def hears(self, thread: int, step: Step) -> bool:
        """Whether the CPU of `thread` may learn by a step what others have done: it reads what anyone else may write."""
        cells = [cell for act in acts_of(step.op) if act.agent is Agent.CPU for cell in act.reads]
        return any(self.writers.get(cell, frozenset()) - {thread} for cell in cells)


@dataclass(frozen=True)
class ThreadFlow:
    """A thread, by its number, as edges by where they begin; steps that go wrong and end the execution are left out."""

    number: int
    thread: Thread

    @cached_property
    def out(self) -> dict[int, list[Edge]]:
        found: dict[int, list[Edge]] = {point: [] for point in self.thread.points}
        for edge in self.thread.edges:
            fault = edge[2].fault
            if fault is None or fault.kind == "assertion":
                found.setdefault(edge[0], []).append(edge)
        return found

    @cached_property
    def statements(self) -> dict[Span, list[Edge]]:
        """The edges of each statement or condition that some path comes to, by its place, in the order of the graph."""
        reached = {self.thread.entry, *(target for _, target, _ in self.from_point(self.thread.entry))}
        found: dict[Span, list[Edge]] = {}
        for point, edges in self.out.items():
            for edge in edges if point in reached else ():
                found.setdefault(edge[2].span, []).append(edge)
        return found

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The other ends of the queue pairs that are used, in order."""
        ops = [step.op for edges in self.out.values() for _, _, step in edges]
        return tuple(dict.fromkeys(n for op in ops for n in (completes_on(op), polls_of(op)) if n is not None))

    def many(self, node: str) -> int:
        """A number that is outstanding only if some path comes to an operation twice; it stands for more, too."""
        return 1 + sum(completes_on(step.op) == node for edges in self.out.values() for _, _, step in edges)

    def outstanding(self, node: str) -> dict[int, set[int]]:
        """Return, for each point, the numbers of operations towards `node` that can be unpolled there.

        A poll with nothing outstanding is never passed, because only its own thread issues operations on its queue pair.
        Points without a number are never reached.
        """
        many = self.many(node)
        moves: dict[int, set[tuple[int, int]]] = {
            point: {(target, change(step, node)) for _, target, step in edges} for point, edges in self.out.items()
        }
        found: dict[int, set[int]] = {self.thread.entry: {0}}
        todo = [(self.thread.entry, 0)]
        while todo:
            point, have = todo.pop()
            for target, by in moves.get(point, ()):
                for after in moved(have, by, many):
                    if after not in found.setdefault(target, set()):
                        found[target].add(after)
                        todo.append((target, after))
        return found

    @cached_property
    def blocked(self) -> frozenset[Edge]:
        """The polls that no path passes: they find nothing, or nothing comes to them."""
        polls = [e for edges in self.out.values() for e in edges if polls_of(e[2].op) is not None]
        at = {node: self.outstanding(node) for node in self.nodes}
        return frozenset(e for e in polls if at[polls_of(e[2].op) or ""].get(e[0], set()) <= {0})

    def going_on(self, point: int) -> Iterator[Edge]:
        """Yield the edges from a point that some path takes."""
        return (edge for edge in self.out.get(point, ()) if edge not in self.blocked)

    def from_point(self, point: int) -> Iterator[Edge]:
        """Yield every edge of every path from a point."""
        todo, seen = [point], {point}
        while todo:
            for edge in self.going_on(todo.pop()):
                yield edge
                if edge[1] not in seen:
                    seen.add(edge[1])
                    todo.append(edge[1])


def change(step: Step, node: str) -> int:
    """Return by how much a step changes what is outstanding towards `node`."""
    return -1 if polls_of(step.op) == node else int(completes_on(step.op) == node)


def moved(have: int, by: int, many: int) -> tuple[int, ...]:
    """Return what `have` can be after a change, none if a poll has nothing to take; `many` stands for more, too."""
    if by < 0:
        return () if have == 0 else (many - 1, many) if have == many else (have - 1,)
    return (min(have + by, many),)


def flows(program: Program) -> list[ThreadFlow]:
    """Return the flow of every thread."""
    return [ThreadFlow(number, thread) for number, thread in enumerate(program.threads)]
