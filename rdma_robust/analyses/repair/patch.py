"""From choices to patched text: the statements, the words that flushes use, and the diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from rdma_robust.analyses.repair.edits import Gap, SourceEdit, SourceText, apply_edits, one_edit, text_edits
from rdma_robust.analyses.repair.repairs import Barrier, Choices, Costs, Insertion, InsertionChoice, Repair, RepairSolution
from rdma_robust.analyses.repair.sites import AutomataSource, Sites, fresh_word
from rdma_robust.errors import ProgramError
from rdma_robust.expr import names
from rdma_robust.language.defines import undefined
from rdma_robust.language.flow.cfg import NAMELESS, Cell, Op, Program, on_lane, steps
from rdma_robust.language.load import is_c, load_decidable
from rdma_robust.language.syntax.ast import NodeDeclaration
from rdma_robust.semantics.event_table import cells_read, cells_written

SCRAP, PROBE = "scrap", "probe"
"""What the words are called that gets write and read, with a number if the program has that name."""


@dataclass(frozen=True, slots=True)
class PatchRow:
    """The insertions at a place for one queue pair: its kind (a flush is a get with polls), statements and line."""

    kind: str
    choices: tuple[InsertionChoice, ...]
    statements: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Patch:
    """A patched text; `new` says where its inserted statements are, `edits` what was done to the old text."""

    text: str
    new: tuple[tuple[int, int], ...]
    rows: tuple[PatchRow, ...]
    declared: tuple[str, ...]
    edits: tuple[SourceEdit, ...]


@dataclass(frozen=True)
class Patcher:
    """Writes insertions into the text of a program.

    A get reads a word that nobody writes and writes one that nobody else touches: then it has no conflicts, and does nothing
    but order. Both are always declared, under names that the program does not have.

    If it is `robust` with them, or `safe` under RDMA, expectations become those of such a program.
    """

    sites: Sites
    robust: bool = True
    safe: bool = False

    def patch(self, chosen: Choices) -> Patch:
        """Return the text with `chosen` inserted. Layout and comments stay."""
        source = self.sites.source
        if isinstance(source, AutomataSource):
            return self._automata(source, chosen)
        words = _Words(self.sites, source)
        at: dict[int, list[tuple[str, tuple[InsertionChoice, ...], tuple[str, ...]]]] = {}
        for kind, choices in _grouped(chosen):
            statements = tuple(self._statement(c, words) for c in choices)
            at.setdefault(choices[0].place, []).append((kind, choices, statements))
        edits = {}
        for number, found in at.items():
            place = self.sites.places[number]
            assert isinstance(place, Gap)
            edits[number] = source.insert(place, [s for _, _, statements in found for s in statements])
        declared = [
            source.declare(item, [self._declaration(w) for w in words.declared[item.name.text]])
            for item in source.tree.items
            if isinstance(item, NodeDeclaration) and item.name.text in words.declared
        ]
        expecting = [*(source.expect_robust() if self.robust else ()), *(source.expect_safe("rdma") if self.safe else ())]
        done = (*edits.values(), *declared, *expecting)
        text, new = apply_edits(source.text, done)
        rows = []
        ranges = iter(new)
        for number in sorted(edits, key=lambda p: edits[p].offset):
            for kind, choices, statements in at[number]:
                starts = [next(ranges)[0] for _ in statements]
                rows.append(PatchRow(kind, choices, statements, text.count("\n", 0, starts[0]) + 1))
        names_declared = tuple(f"{node}.{word}" for node, each in words.declared.items() for word in each)
        return Patch(text, new, tuple(rows), names_declared, done)

    def _automata(self, source: AutomataSource, chosen: Choices) -> Patch:
        """Return the text with an `mfence` at each of the chosen states."""
        at = {choice: source.fence(self.sites.places[choice.place]) for choice in chosen}
        done = (*(edit for _, edits in at.values() for edit in edits), *source.expect_robust())
        text, new = apply_edits(source.text, done)
        rows = []
        for choice, (line, edits) in at.items():
            start = edits[0].offset + sum(len(e.text) - e.removed for e in done if e.offset < edits[0].offset)
            rows.append(PatchRow(choice.kind.value, (choice,), (line,), text.count("\n", 0, start) + 1))
        return Patch(text, new, tuple(sorted(rows, key=lambda row: row.line)), (), done)

    def solution(self, patch: Patch, costs: Costs) -> RepairSolution:
        """Return a patch as a report shows it."""
        insertions = []
        for row in patch.rows:
            place = self.sites.places[row.choices[0].place]
            thread = self.sites.program.threads[place.thread].name
            cost = sum(costs.of(c.kind, place.depth) for c in row.choices)
            insertions.append(Insertion(row.kind, thread, row.choices[0].node, row.line, row.statements, cost))
        old = self.sites.source.text
        diff = unified(old, patch.text, self.sites.program.file)
        edits = text_edits(old, patch.edits)
        return RepairSolution(
            tuple(insertions), sum(i.cost for i in insertions), patch.declared, patch.text, diff, edits=edits
        )

    def _statement(self, choice: InsertionChoice, words: _Words) -> str:
        pair, thread = choice.node, self.sites.places[choice.place].thread
        if choice.kind is not Barrier.GET:
            return f"{choice.kind.value} {pair}".strip()
        lanes = dict(self.sites.program.threads[thread].lanes)
        node = choice.memory or lanes.get(pair, pair)
        return f"get {words.scrap(thread, pair)} = {node}.{words.probe(node)}{on_lane(pair if pair in lanes else NAMELESS)}"

    def _declaration(self, word: str) -> str:
        domain = self.sites.program.domain
        return word if domain is not None and not domain[0] <= 0 <= domain[1] else f"{word} = 0"


def _grouped(chosen: Choices) -> Iterator[tuple[str, tuple[InsertionChoice, ...]]]:
    """Yield choices as rows, in their order: fences, flushes and polls each for itself, gets of a place with its polls."""
    for _, group in groupby(sorted(chosen, key=lambda c: c.order), key=lambda c: c.order[:3]):
        choices = tuple(group)
        gets = () if choices[0].kind is not Barrier.GET else tuple(c for c in choices if c.kind is not Barrier.FLUSH)
        if gets:
            yield ("flush" if gets[-1].kind is Barrier.POLL else Barrier.GET.value), gets
        yield from ((c.kind.value, (c,)) for c in choices[len(gets) :])


class _Words:
    """The words of the gets of one patch, by node in `declared`.

    Every queue pair has a word of its own to write, since gets of one queue pair write in order; nobody writes what is read,
    so one word of a node is enough for that.
    """

    def __init__(self, sites: Sites, source: SourceText) -> None:
        self._sites = sites
        self._members: dict[str, list[str]] = {}
        self._taken = source.identifiers()
        self._probes: dict[str, str] = {}
        self._scraps: dict[tuple[int, str], str] = {}
        self.declared: dict[str, list[str]] = {}

    def probe(self, node: str) -> str:
        """Return the word of `node` to read."""
        if node not in self._probes:
            self._probes[node] = self._declare(node, PROBE)
        return self._probes[node]

    def scrap(self, thread: int, node: str) -> str:
        """Return the word of the thread's node to write for the queue pair to `node`."""
        if (thread, node) not in self._scraps:
            self._scraps[thread, node] = self._declare(self._sites.program.threads[thread].node, SCRAP)
        return self._scraps[thread, node]

    def _declare(self, node: str, name: str) -> str:
        """Return a new word of `node`, declared where its family is if it has one, which may be a word of others there."""
        family = node.partition("[")[0]
        everywhere, here = self.declared.setdefault(family, []), self._members.setdefault(node, [])
        word = fresh_word(name, self._taken | frozenset(here))
        here.append(word)
        if word not in everywhere:
            everywhere.append(word)
        return word


@dataclass(frozen=True)
class WordUsage:
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


def repair_of_original(repair: Repair, original: str, define: Sequence[str], file: str, text: str = "") -> Repair:
    """Return the repair of the program that :func:`~rdma_robust.language.defines.with_definitions` makes of `original`
    as one of `original` itself. No line moves. Of C it is of `text`, which has its options in a comment at its end.

    A solution that is no program with the values of that text, because it uses more elements of an array, keeps the others.
    """
    if is_c(original, file):
        options = text.removeprefix(original)
        return replace(repair, solutions=tuple(_without(s, original, options, file) for s in repair.solutions))
    return replace(repair, solutions=tuple(_solution_back(s, original, define, file) for s in repair.solutions))


def _without(solution: RepairSolution, original: str, options: str, file: str) -> RepairSolution:
    """Return a solution of C without the options at its end."""
    patched = solution.patched.removesuffix(options)
    read, own = unified(original + options, solution.patched, file), unified(original, patched, file)
    return replace(solution, patched=patched, diff=solution.diff.replace(read, own))


def _solution_back(solution: RepairSolution, original: str, define: Sequence[str], file: str) -> RepairSolution:
    """Return one solution of such a repair."""
    text = undefined(solution.patched, original, define)
    try:
        load_decidable(text, file, crowds=True)
    except ProgramError:
        text = solution.patched
    return replace(solution, patched=text, diff=unified(original, text, file), edits=(one_edit(original, text),))
