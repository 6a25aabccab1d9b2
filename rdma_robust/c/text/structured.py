"""A thread as statements: `if`, `while` and `choose` where its blocks have this shape, else a register for the block.

A graph has the shape if every circle is entered at one block and left from there only, and if what parts at a question comes
together where the language has it come together. The statements before the question of a loop are written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import networkx as nx

from rdma_robust.build import ThreadBuilder
from rdma_robust.c.text.blocks import BasicBlock, BlockLine
from rdma_robust.errors import Span

_LONGER: Final = 2
_MORE: Final = 20
"""Statements that structured text may have at most: so many times those of the automaton, and so many more."""

_END: Final = -1
PlaceOf = Callable[[BlockLine], Span | None]


class NotStructuredError(Exception):
    """The blocks of a thread have no shape that the language has."""


class WrittenThread:
    """Statements of a thread, written once it is known that they can all be."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, str, BlockLine | None]] = []
        self.lines = 0

    def line(self, line: BlockLine) -> None:
        """Add a statement."""
        self.steps.append(("line", line.text, line))
        self.lines += 1

    @contextmanager
    def inside(self, kind: str, text: str = "") -> Iterator[None]:
        """Add a block, in which what follows is."""
        self.steps.append((kind, text, None))
        yield
        self.steps.append(("end", "", None))

    def write(self, builder: ThreadBuilder, place: PlaceOf) -> None:
        """Write all to a builder."""
        _written(iter(self.steps), builder, place)


def _written(steps: Iterator[tuple[str, str, BlockLine | None]], builder: ThreadBuilder, place: PlaceOf) -> None:
    for kind, text, line in steps:
        if kind == "end":
            return
        if kind == "line":
            assert line is not None
            builder.statement(text, at=place(line))
        elif kind == "if":
            with builder.when(text):
                _written(steps, builder, place)
        elif kind == "else":
            with builder.otherwise():
                _written(steps, builder, place)
        elif kind == "while":
            with builder.loop_while(text):
                _written(steps, builder, place)
        else:
            with builder.choose() as choices:
                for _ in range(int(text)):
                    next(steps)
                    with choices.branch():
                        _written(steps, builder, place)
            next(steps)


def structured(blocks: Mapping[int, BasicBlock]) -> WrittenThread:
    """Return the statements of blocks, of which 0 is the first. Raises NotStructuredError."""
    return _Structure(blocks).statements()


def dispatched(blocks: Mapping[int, BasicBlock], at: str) -> WrittenThread:
    """Return the statements of blocks with a register that says which comes next."""
    numbers = {block: number for number, block in enumerate(blocks)}
    over = len(blocks)
    made = WrittenThread()
    made.line(BlockLine(f"{at} = {numbers[0]}"))

    def one_of(some: Sequence[int]) -> None:
        """Write the blocks, each where the register says that it comes next: by halves, so that blocks lie flat."""
        half = len(some) // 2
        if half:
            with made.inside("if", f"{at} < {numbers[some[half]]}"):
                one_of(some[:half])
            with made.inside("else"):
                one_of(some[half:])
            return
        block = blocks[some[0]]
        for line in block.lines:
            made.line(line)
        if not block.ways.arms:
            made.line(BlockLine(f"{at} = {over}"))
        _arms(made, block, lambda to: made.line(BlockLine(f"{at} = {numbers[to]}")))

    with made.inside("while", f"{at} != {over}"):
        one_of(list(blocks))
    return made


def _arms(made: WrittenThread, block: BasicBlock, write: Callable[[int], None]) -> None:
    """Write the way on of a block, in each arm as `write` does."""
    arms = block.ways.arms
    if len(arms) == 1:
        write(arms[0][1])
    elif block.ways.free:
        with made.inside("choose", str(len(arms))):
            for _, to in arms:
                with made.inside("branch"):
                    write(to)
    elif arms:
        _if(made, arms, write)


def _if(made: WrittenThread, arms: tuple[tuple[str, int], ...], write: Callable[[int], None]) -> None:
    (condition, to), *others = arms
    if not others:
        write(to)
        return
    with made.inside("if", condition):
        write(to)
    with made.inside("else"):
        _if(made, tuple(others), write)


class _Structure:
    def __init__(self, blocks: Mapping[int, BasicBlock]) -> None:
        self.blocks = blocks
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_node(0)
        for number, block in blocks.items():
            graph.add_edges_from((number, to) for to in block.ways.targets or (_END,))
        self.graph = graph
        self.dominator = nx.immediate_dominators(graph, 0)
        back = graph.reverse(copy=True)
        self.join = nx.immediate_dominators(back, _END) if _END in back else {}
        self.loops = self._loops()
        self.made = WrittenThread()
        self.most = _LONGER * sum(len(block.lines) + 1 for block in blocks.values()) + _MORE

    def _loops(self) -> dict[int, frozenset[int]]:
        """Return the first block of each loop with the blocks of the loop. Raises NotStructuredError."""
        loops: dict[int, frozenset[int]] = {}
        for group in nx.strongly_connected_components(self.graph):
            self._add_loops(group, loops)
        return loops

    def _add_loops(self, group: set[int], loops: dict[int, frozenset[int]]) -> None:
        part = self.graph.subgraph(group)
        if not part.number_of_edges():
            return
        entries = {
            block for block in group if block == 0 or any(each not in group for each in self.graph.predecessors(block))
        }
        if len(entries) != 1:
            raise NotStructuredError
        (head,) = entries
        if any(to not in group for block in group - {head} for to in self.graph.successors(block)):
            raise NotStructuredError
        loops[head] = frozenset(group)
        inner = self.graph.subgraph(group - {head})
        for each in nx.strongly_connected_components(inner):
            if inner.subgraph(each).number_of_edges():
                self._add_inner(set(each), loops)

    def _add_inner(self, group: set[int], loops: dict[int, frozenset[int]]) -> None:
        self._add_loops(group, loops)

    def statements(self) -> WrittenThread:
        self._emit(0, _END, frozenset())
        return self.made

    def _emit(self, block: int, stop: int, inside: frozenset[int]) -> None:
        """Write blocks from one on until another one comes."""
        while block not in (stop, _END):
            if self.made.lines > self.most:
                raise NotStructuredError
            if block in self.loops and block not in inside:
                block = self._loop(block, inside | {block})
                continue
            if block in inside:
                raise NotStructuredError
            block = self._one(block, stop, inside)
        if block == _END != stop:
            raise NotStructuredError

    def _one(self, block: int, stop: int, inside: frozenset[int]) -> int:
        """Write a block and its arms; return where they come together."""
        here = self.blocks[block]
        for line in here.lines:
            self.made.line(line)
        if len(here.ways.arms) < _LONGER:
            return here.ways.targets[0] if here.ways.arms else _END
        join = self._joined(here, stop)
        _arms(self.made, here, lambda to: self._emit(to, join, inside))
        return join

    def _joined(self, block: BasicBlock, stop: int) -> int:
        """Return where all arms come together: at `stop` at the latest."""
        number = next(each for each, other in self.blocks.items() if other is block)
        found: int | None = self.join.get(number)
        if found is None:
            return stop
        return stop if found == number else found

    def _loop(self, head: int, inside: frozenset[int]) -> int:
        """Write a loop; return where it goes on behind it."""
        block, loop = self.blocks[head], self.loops[head]
        arms = block.ways.arms
        leaving = [(condition, to) for condition, to in arms if to not in loop]
        staying = [(condition, to) for condition, to in arms if to in loop]
        if not leaving:
            with self.made.inside("while", "1 == 1"):
                for line in block.lines:
                    self.made.line(line)
                _arms(self.made, block, lambda to: self._emit(to, head, inside))
            return _END
        if block.ways.free or len(staying) != 1 or len({to for _, to in leaving}) != 1:
            raise NotStructuredError
        for line in block.lines:
            self.made.line(line)
        with self.made.inside("while", staying[0][0]):
            self._emit(staying[0][1], head, inside)
            for line in block.lines:
                self.made.line(line)
        return leaving[0][1]
