"""From choices to patched text: the statements, the words that flushes use, and the diff."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rdma_robust.analyses.repair.counting import Plan
from rdma_robust.analyses.repair.edits import apply
from rdma_robust.analyses.repair.repairs import Choice, Choices, Costs, Insertion, Kind, Solution
from rdma_robust.analyses.repair.replay import in_order
from rdma_robust.analyses.repair.sites import Sites, fresh
from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import Cell, Op, Program, steps
from rdma_robust.language.syntax.ast import Node
from rdma_robust.semantics.event_table import cells_read, cells_written


@dataclass(frozen=True, slots=True)
class Patch:
    """A patched text; `new` says where its inserted statements are, `rows` which choice made which of them."""

    text: str
    new: tuple[tuple[int, int], ...]
    rows: tuple[tuple[Choice, tuple[str, ...], int], ...]
    declared: tuple[str, ...]


@dataclass(frozen=True)
class Patcher:
    """Writes insertions into the text of a program.

    A flush reads a word of the other node that nobody writes and writes a word of its thread's node that nobody else
    touches: then it has no conflicts, and does nothing but order. Words of the program that are like this are used; what
    is missing is declared. `reads` gives for a node another word to read.
    """

    sites: Sites
    reads: Mapping[str, str] = field(default_factory=dict)

    def patch(self, chosen: Choices, plan: Plan) -> Patch:
        """Return the text with `chosen` inserted. Layout and comments stay, expectations become those of a robust one."""
        words = _Words(self.sites, self.reads)
        at: dict[int, list[tuple[Choice, tuple[str, ...]]]] = {}
        for choice in in_order(chosen):
            at.setdefault(choice.place, []).append((choice, self._statements(choice, plan, words)))
        source = self.sites.source
        edits = {
            place: source.insert(self.sites.places[place], [s for _, statements in rows for s in statements])
            for place, rows in at.items()
        }
        declared = [
            source.declare(item, [self._declaration(w) for w in words.declared[item.name.text]])
            for item in source.tree.items
            if isinstance(item, Node) and item.name.text in words.declared
        ]
        text, new = apply(source.text, [*edits.values(), *declared, *source.expect_robust()])
        rows = []
        ranges = iter(new)
        for place in sorted(edits, key=lambda p: edits[p].offset):
            for choice, statements in at[place]:
                starts = [next(ranges)[0] for _ in statements]
                rows.append((choice, statements, text.count("\n", 0, starts[0]) + 1))
        names_declared = tuple(f"{node}.{word}" for node, each in words.declared.items() for word in each)
        return Patch(text, new, tuple(rows), names_declared)

    def solution(self, patch: Patch, costs: Costs) -> Solution:
        """Return a patch as a report shows it."""
        insertions = []
        for choice, statements, line in patch.rows:
            place = self.sites.places[choice.place]
            thread = self.sites.program.threads[place.thread].name
            cost = costs.of(choice.kind, place.depth)
            insertions.append(Insertion(choice.kind.value, thread, choice.node, line, statements, cost))
        diff = unified(self.sites.source.text, patch.text, self.sites.program.file)
        return Solution(tuple(insertions), sum(i.cost for i in insertions), patch.declared, patch.text, diff)

    def _statements(self, choice: Choice, plan: Plan, words: _Words) -> tuple[str, ...]:
        node = choice.node
        match choice.kind:
            case Kind.POLL:
                return (f"poll {node}",)
            case Kind.RFENCE:
                return (f"rfence {node}",)
            case _:
                gets, polls = plan.flushes[choice]
                thread = self.sites.places[choice.place].thread
                here = words.local(thread, None if choice.kind is Kind.DRAIN else node)
                return (f"get {here} = {node}.{words.remote(node)}",) * gets + (f"poll {node}",) * polls

    def _declaration(self, word: str) -> str:
        domain = self.sites.program.domain
        return word if domain is not None and not domain[0] <= 0 <= domain[1] else f"{word} = 0"


class _Words:
    """The words of the flushes of one patch. `declared` are those that the program lacks, by node.

    Gets of one thread that are polled at once may share a word, since they are ordered anyway; those that are left for later
    polls get one for each queue pair.
    """

    def __init__(self, sites: Sites, reads: Mapping[str, str]) -> None:
        self._usage = Usage(sites.program)
        self._sites = sites
        self._remote = dict(reads)
        self._local: dict[tuple[int, str | None], str] = {}
        self._taken = sites.source.identifiers()
        self._given: set[Cell] = set()
        self.declared: dict[str, list[str]] = {}

    def remote(self, node: str) -> str:
        """Return the word of `node` to read."""
        if node not in self._remote:
            kept = [c for c in self._usage.unwritten(node) if c not in self._given]
            self._remote[node] = kept[0].name if kept else self._declare(node, "any")
        return self._remote[node]

    def local(self, thread: int, queue_pair: str | None) -> str:
        """Return the word of the thread's node to write."""
        key = (thread, queue_pair)
        if key not in self._local:
            node = self._sites.program.threads[thread].node
            read = {f"{n}.{w}" for n, w in self._remote.items()}
            free = [c for c in self._usage.untouched(node) if c not in self._given and str(c) not in read]
            if free:
                self._given.add(free[0])
            self._local[key] = free[0].name if free else self._declare(node, "scrap")
        return self._local[key]

    def _declare(self, node: str, name: str) -> str:
        here = self.declared.setdefault(node, [])
        word = fresh(name, self._taken | frozenset(here))
        here.append(word)
        return word


@dataclass(frozen=True)
class Usage:
    """Who touches the words of a program."""

    program: Program

    @cached_property
    def _ops(self) -> tuple[Op, ...]:
        return tuple(step.op for thread in self.program.threads for _, _, step in steps(thread))

    @cached_property
    def written(self) -> frozenset[Cell]:
        return frozenset(cell for op in self._ops for cell in cells_written(op))

    @cached_property
    def read(self) -> frozenset[str]:
        return frozenset(str(cell) for op in self._ops for cell in cells_read(op))

    @cached_property
    def _touched(self) -> frozenset[str]:
        """Also what `outcome` lines ask for."""
        asked = {name for line in self.program.outcomes for name in names(line.condition)}
        return frozenset(asked | self.read | {str(cell) for cell in self.written})

    def words(self, node: str) -> tuple[Cell, ...]:
        return tuple(c for c in self.program.cells if c.node == node and not c.hidden)

    def unwritten(self, node: str) -> tuple[Cell, ...]:
        """The words of a node that are read at most, with those first that nobody touches."""
        kept = [c for c in self.words(node) if c not in self.written]
        return tuple(sorted(kept, key=lambda c: str(c) not in self._touched))

    def untouched(self, node: str) -> tuple[Cell, ...]:
        return tuple(c for c in self.words(node) if str(c) not in self._touched)


def unified(old: str, new: str, file: str) -> str:
    """Return the unified diff of two texts, as `patch` reads it; empty if they are the same."""
    lines = []
    for line in difflib.unified_diff(_lines(old), _lines(new), file, file):
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(text: str) -> list[str]:
    """Return lines with their ends; only a line feed ends a line here."""
    found = text.split("\n")
    return [f"{line}\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])
