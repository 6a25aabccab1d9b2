"""The completions that a thread has outstanding on its queue pairs, along all paths of its graph, values ignored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.digraph import components
from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Cell, ImmPut, Program, Recv, RecvPoll, Send, Step, Thread
from rdma_robust.semantics.event_table import Agent, acts_of, completes_on, polls_of, requests_to
from rdma_robust.semantics.machines.waiting_points import goes_on

Edge = tuple[int, int, Step]


@dataclass(frozen=True)
class Others:
    """The words that are written, and those that are read, by anyone but the CPU of each thread (None: by nobody's CPU)."""

    writers: dict[Cell, frozenset[int | None]]
    readers: dict[Cell, frozenset[int | None]]
    posted: dict[tuple[str, str], int]
    """How many receives are sure to be posted whatever the others do, by (sending thread, receiving thread), where that
    polls them."""

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
        posted: dict[tuple[str, str], int] = {}
        for receiver in program.threads:
            polled = {step.op.sender for _, _, step in receiver.edges if isinstance(step.op, RecvPoll)}
            for sender in (*(name for name, _ in receiver.posted), *_posted_at_once(receiver)):
                if sender in polled:
                    posted[sender, receiver.name] = posted.get((sender, receiver.name), 0) + 1
        return Others({c: frozenset(w) for c, w in writers.items()}, {c: frozenset(r) for c, r in readers.items()}, posted)

    def hears(self, flow: ThreadFlow, step: Step) -> bool:
        """Whether a thread may learn by a step what others have done: its CPU reads what anyone else may write, or takes a
        message, or the completion of one, which has waited for the receiver."""
        if isinstance(step.op, RecvPoll) or polls_of(step.op) in flow.messaged:
            return True
        cells = [cell for act in acts_of(step.op) if act.agent is Agent.CPU for cell in act.reads]
        return any(self.writers.get(cell, frozenset()) - {flow.number} for cell in cells)


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
        return tuple(dict.fromkeys(n for op in ops for n in (requests_to(op), polls_of(op)) if n is not None))

    @cached_property
    def messaged(self) -> frozenset[str]:
        """The nodes to which the thread sends messages, on queue pairs whose completions may be those of messages."""
        ops = [step.op for _, _, step in self.thread.edges]
        return frozenset(op.node if isinstance(op, Send) else op.target.node for op in ops if isinstance(op, Send | ImmPut))

    @cached_property
    def requests(self) -> dict[tuple[Span, str], list[Edge]]:
        """The edges of each statement that hand over a request, by its place and the node it goes to."""
        found: dict[tuple[Span, str], list[Edge]] = {}
        for span, edges in self.statements.items():
            for edge in edges:
                if (node := requests_to(edge[2].op)) is not None:
                    found.setdefault((span, node), []).append(edge)
        return found

    def many(self, node: str) -> int:
        """A number that is outstanding only if some path comes to an operation twice; it stands for more, too."""
        return 1 + sum(completes_on(step.op) == node for edges in self.out.values() for _, _, step in edges)

    def outstanding(self, node: str) -> dict[int, set[int]]:
        """Return, for each point, the numbers of operations towards `node` that can be unpolled there.

        A poll with nothing outstanding is never passed, because only its own thread issues operations on its queue pair.
        Points without a number are never reached.
        """
        many = self.many(node)
        found: dict[int, set[int]] = {self.thread.entry: {0}}
        todo = [(self.thread.entry, 0)]
        while todo:
            point, have = todo.pop()
            for _, target, step in self.out.get(point, ()):
                for after in outstanding_after(have, step, node, many):
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

    def windows(self) -> Iterator[tuple[Edge, Edge]]:
        """Yield for each loop and queue pair a request that is posted there and a message of its other node that is waited
        for, if no completion of the queue pair is taken in the loop."""
        following = {point: [target for _, target, _ in self.going_on(point)] for point in self.out}
        for loop in components(following):
            inside = [e for point in loop for e in self.going_on(point) if e[1] in loop]
            waits = [e for e in inside if isinstance(e[2].op, RecvPoll)]
            for node in dict.fromkeys(requests_to(e[2].op) for e in inside if waits):
                if node is not None and not any(polls_of(e[2].op) == node for e in inside):
                    yield next(e for e in inside if requests_to(e[2].op) == node), waits[0]


def _posted_at_once(thread: Thread) -> Iterator[str]:
    """Yield the senders for whom a thread posts receives before it waits for anything or decides anything."""
    out: dict[int, list[Step]] = {}
    targets: dict[int, int] = {}
    for source, target, step in thread.edges:
        out.setdefault(source, []).append(step)
        targets[source] = target
    point, seen = thread.entry, set[int]()
    while point not in seen and len(steps := out.get(point, [])) == 1:
        seen.add(point)
        (step,), point = steps, targets[point]
        if isinstance(step.op, Recv):
            yield step.op.sender
        elif not goes_on([step]):
            return


def outstanding_after(have: int, step: Step, node: str, many: int) -> tuple[int, ...]:
    """Return what `have` completions outstanding towards `node` can be after a step, none if a poll has nothing to take;
    `many` stands for more, too."""
    if polls_of(step.op) == node:
        return () if have == 0 else (many - 1, many) if have == many else (have - 1,)
    return (min(have + (completes_on(step.op) == node), many),)


def flows(program: Program) -> list[ThreadFlow]:
    """Return the flow of every thread."""
    return [ThreadFlow(number, thread) for number, thread in enumerate(program.threads)]
