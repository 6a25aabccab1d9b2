"""How many stores a buffer can hold: what the text says of it, and where one store stands for many.

**Like stores.** Let nobody but thread T ever write the word x. Two stores of T of the same value to x, next to each other in
a buffer of T (of those to x, where each word has a buffer), are as good as one: when the first has reached memory, x has
that value until the second has reached it too, for T and for everybody else. So a run in which the second waits is one
in which it lands directly after the first, and a run with one of them is one in which both land at once. Only the number of
stores in the buffer differs, which nobody can see but by its being empty, and it can be emptied as well.
"""

from __future__ import annotations

from collections.abc import Mapping

from rdma_robust.digraph import components
from rdma_robust.language.flow.cfg import Cas, Cell, MFence, Program, RemoteOp, Rmw, Section, Step, Thread, Write

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
            return op.target, op.source
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
