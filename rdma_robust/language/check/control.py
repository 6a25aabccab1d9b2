"""From the syntax tree of a thread to its control-flow graph.

A statement starts at a program point of its own and ends at a given one, so that consecutive statements need no steps
between them. A point that a loop comes back to must not be shared with a choice: only then a silent step is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rdma_robust.digraph import reachable
from rdma_robust.expr import FALSE, TRUE, Expr, conj
from rdma_robust.language.check.accesses import StatementSteps
from rdma_robust.language.check.families import FamilyMember
from rdma_robust.language.check.names import NodeNames, ThreadNames
from rdma_robust.language.check.statements import StatementChecker
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of

_EXIT = -1
_DEAD = -2


@dataclass(slots=True)
class _Edges:
    """A graph under construction: points are numbered as they come up, but for the exit and the dead end."""

    edges: list[tuple[int, int, cfg.Step]] = field(default_factory=list)
    points: int = 1
    labels: dict[str, int] = field(default_factory=dict)

    def fresh(self) -> int:
        self.points += 1
        return self.points - 1

    def add(self, source: int, target: int, steps: list[cfg.Step]) -> None:
        self.edges.extend((source, target, step) for step in steps)


@dataclass(frozen=True, slots=True)
class ShapeEdge:
    """An edge of an automaton: its statement, behind an `assume` if it is `guarded`, is the next one of the thread."""

    source: int
    target: int
    guarded: bool


@dataclass(frozen=True, slots=True)
class AutomatonShape:
    """How the statements of a thread hang together if they are the edges of an automaton. Locations count from 0."""

    start: int
    end: int
    edges: tuple[ShapeEdge, ...]


_DECLARATIONS = (ast.Registers, ast.Lanes, ast.PostedStatement)
"""Statements of a thread that are no step of it."""


@dataclass(frozen=True, slots=True)
class ThreadGraph:
    """A graph, its entry and exit, and the points before the labels that it comes to."""

    points: tuple[int, ...]
    edges: tuple[cfg.Edge, ...]
    entry: int
    exit: int
    labels: dict[str, int]


class GraphBuilder:
    """Builds the graph of one thread, while its statements are checked."""

    def __init__(self, checker: StatementChecker) -> None:
        self.checker = checker
        self._graph = _Edges()

    def thread(self, body: ast.Block) -> ThreadGraph:
        """Return the graph of a thread."""
        if _leads_to(body.statements, 0, _EXIT) is None:
            entry = 0
            self._block(body, 0, _EXIT)
        else:
            entry = _EXIT
            self._check_only(body.statements)
        return _finish(self._graph, entry)

    def automaton(self, body: ast.Block, shape: AutomatonShape) -> ThreadGraph:
        """Return the graph as :meth:`thread` does, with a statement of `body` for every edge of `shape`.

        Where statements are missing there was an error, and the graph means nothing.
        """
        written = [s for s in body.statements if not isinstance(s, _DECLARATIONS)]
        if len(written) != sum(1 + e.guarded for e in shape.edges) or any(
            isinstance(s, ast.BrokenStatement) for s in written
        ):
            self._check_only(body.statements)
            assert self.checker.report.failed, "the edges of an automaton are not its statements"
            return _finish(self._graph, 0)
        statements = iter(written)
        self._check_only(tuple(s for s in body.statements if isinstance(s, _DECLARATIONS)))
        ends = {shape.end: _EXIT}
        self._graph.points = 1 + max((shape.start, *(p for e in shape.edges for p in (e.source, e.target))))
        for edge in shape.edges:
            guard = self.checker.guard(next(statements)) if edge.guarded else TRUE
            statement = next(statements)
            source, target = (ends.get(p, p) for p in (edge.source, edge.target))
            lowered = self.checker.check(statement)
            if isinstance(statement, ast.Skip):
                text, span = self.checker.heading(statement)
                lowered = StatementSteps([cfg.Step(cfg.Silent(), TRUE, (), span, text)])
            self._lowered(lowered, source, target, guard)
        return _finish(self._graph, ends.get(shape.start, shape.start))

    def _lowered(self, lowered: StatementSteps, source: int, target: int, guard: Expr = TRUE) -> None:
        """Add the steps of a statement, which begin only where `guard` holds."""
        before = lowered.before
        if before is not None:
            at = self._graph.fresh()
            self._guarded(source, ((at, before.then), (_DEAD, before.faults)), guard)
            source, guard = at, TRUE
        # The thread goes on after a failed assertion.
        self._guarded(source, ((target, lowered.then), (target, lowered.otherwise), (_DEAD, lowered.faults)), guard)
        for chain in lowered.chains:
            at, holds = source, guard
            for step in chain[:-1]:
                after = self._graph.fresh()
                self._guarded(at, ((after, [step]),), holds)
                at, holds = after, TRUE
            self._guarded(at, ((target, chain[-1:]),), holds)

    def _guarded(self, source: int, ways: Iterable[tuple[int, list[cfg.Step]]], guard: Expr) -> None:
        """Add steps that can be taken only where `guard` holds."""
        if guard == TRUE:
            for goal, made in ways:
                self._graph.add(source, goal, made)
            return
        for goal, made in ways:
            guarded = (replace(step, guard=conj(guard, step.guard)) for step in made)
            self._graph.add(source, goal, [step for step in guarded if step.guard != FALSE])

    def _block(self, block: ast.Block, source: int, target: int) -> None:
        """Add the steps of a block that does something, from `source` to `target`."""
        statements = block.statements
        at = source
        label: ast.LabelStatement | None = None
        for k, statement in enumerate(statements):
            if isinstance(statement, ast.Halt):
                self._passed(label, statement, at, _EXIT)
                self._check_only(statements[k:])
                return
            if isinstance(statement, _DECLARATIONS) or (label is None and _does_nothing(statement)):
                self._check_only((statement,))
                continue
            if isinstance(statement, ast.LabelStatement) and label is None:
                label = statement
                self._graph.labels[label.name.text] = at
                continue
            goal = _leads_to(statements, k if isinstance(statement, ast.LabelStatement) else k + 1, target)
            if goal is None:
                goal = self._graph.fresh()
            if isinstance(statement, ast.LabelStatement):
                self._passed(label, label, at, goal)
                self._graph.labels[statement.name.text] = goal
                label, at = statement, goal
                continue
            if _does_nothing(statement):
                self._check_only((statement,))
                self._passed(label, statement, at, goal)
            else:
                self._statement(statement, at, goal)
            at, label = goal, None
        self._passed(label, label, at, target)

    def _passed(self, label: ast.LabelStatement | None, statement: ast.Statement | None, source: int, target: int) -> None:
        """Add the step past a labelled place where nothing is done."""
        if label is not None and statement is not None:
            text, span = self.checker.heading(statement)
            self._graph.add(source, target, [cfg.Step(cfg.Silent(), TRUE, (), span, text)])

    def _check_only(self, statements: tuple[ast.Statement, ...]) -> None:
        """Check statements that make no steps."""
        for statement in statements:
            self.checker.check(statement)
            for block in blocks_of(statement):
                self._check_only(block.statements)

    def _statement(self, statement: ast.Statement, source: int, target: int) -> None:
        match statement:
            case ast.If():
                self._if(statement, source, target)
            case ast.While():
                self._while(statement, source, target)
            case ast.Loop(body):
                text, span = self.checker.heading(statement)
                self._again(body, source, cfg.Step(cfg.Silent(), TRUE, (), span, text))
                self._graph.add(source, target, [cfg.Step(cfg.Silent(), TRUE, (), span, text)])
            case ast.Choose(branches):
                text, span = self.checker.heading(statement)
                for branch in branches:
                    self._branch(branch, source, target, cfg.Step(cfg.Silent(), TRUE, (), span, text))
            case ast.BrokenStatement(blocks):
                for block in blocks:
                    self._branch(block, source, target, cfg.Step(cfg.Silent()))
            case _:
                self._lowered(self.checker.check(statement), source, target)

    def _if(self, statement: ast.If, source: int, target: int) -> None:
        at = source
        for k, arm in enumerate(statement.arms):
            lowered = self.checker.condition(arm)
            self._graph.add(at, _DEAD, lowered.faults)
            self._graph.add(at, self._into(arm.block, target), lowered.then)
            if k + 1 < len(statement.arms):
                after = self._graph.fresh()
            elif statement.otherwise is not None:
                after = self._into(statement.otherwise, target)
            else:
                after = target
            self._graph.add(at, after, lowered.otherwise)
            at = after

    def _into(self, block: ast.Block, target: int) -> int:
        """Add a block that ends at `target`; return where it starts."""
        start = _leads_to(block.statements, 0, target)
        if start is not None:
            self._check_only(block.statements)
            return start
        start = self._graph.fresh()
        self._block(block, start, target)
        return start

    def _while(self, statement: ast.While, source: int, target: int) -> None:
        lowered = self.checker.condition(statement)
        self._graph.add(source, _DEAD, lowered.faults)
        self._graph.add(source, target, lowered.otherwise)
        if _always(lowered):
            self._again(statement.body, source, lowered.then[0])
        else:
            self._graph.add(source, self._into(statement.body, source), lowered.then)

    def _again(self, body: ast.Block, head: int, step: cfg.Step) -> None:
        """Add a loop body from `head` back to it; `step` enters it where it cannot start at `head` itself."""
        self._branch(body, head, head, step)

    def _branch(self, block: ast.Block, source: int, target: int, step: cfg.Step) -> None:
        """Add a block beside others that start at `source`; `step` enters it if it needs a start of its own."""
        if _leads_to(block.statements, 0, target) is not None or _needs_start(block):
            self._graph.add(source, self._into(block, target), [step])
        else:
            self._block(block, source, target)


def _always(lowered: StatementSteps) -> bool:
    """Whether a condition is constantly true."""
    return not lowered.otherwise and not lowered.faults and [s.guard for s in lowered.then] == [TRUE]


def _does_nothing(statement: ast.Statement) -> bool:
    """Whether a statement needs no step at all."""
    match statement:
        case ast.Skip() | ast.Registers() | ast.Lanes() | ast.PostedStatement():
            return True
        case ast.Loop() | ast.Choose() | ast.BrokenStatement():
            return all(_does_nothing(s) for block in blocks_of(statement) for s in block.statements)
        case _:
            return False


def _leads_to(statements: tuple[ast.Statement, ...], begin: int, target: int) -> int | None:
    """Return where statements that do nothing lead, `target` or the exit; None if they do something."""
    for k in range(begin, len(statements)):
        if isinstance(statements[k], ast.Halt):
            return _EXIT
        if not _does_nothing(statements[k]):
            return None
    return target


def _needs_start(block: ast.Block) -> bool:
    """Whether a block must start at a point of its own: it comes back there, or that has a label."""
    for statement in block.statements:
        if not _does_nothing(statement):
            return isinstance(statement, ast.While | ast.Loop | ast.LabelStatement)
    return False


def _finish(graph: _Edges, entry: int) -> ThreadGraph:
    """Number what can be reached from the entry: points in order, then the exit, then the dead end."""
    following: dict[int, list[int]] = {}
    for source, target, step in graph.edges:
        if step.guard != FALSE:
            following.setdefault(source, []).append(target)
    reached = reachable([entry], following)
    order = [p for p in range(graph.points) if p in reached]
    order.append(_EXIT)
    if _DEAD in reached:
        order.append(_DEAD)
    number = {point: k for k, point in enumerate(order)}
    edges = tuple((number[source], number[target], step) for source, target, step in graph.edges if source in reached)
    labels = {name: number[point] for name, point in graph.labels.items() if point in number}
    return ThreadGraph(tuple(range(len(order))), edges, number[entry], number[_EXIT], labels)


def thread_of(
    names: ThreadNames, built: ThreadGraph, node: str, one: FamilyMember, lanes: Mapping[str, str | None]
) -> cfg.Thread:
    """Return a thread of its names, its graph, its node, which one of its declaration it is, and its lanes."""
    registers = tuple((r.name, r.init) for r in (*names.registers.values(), *names.hidden.values()))
    return cfg.Thread(
        names.name,
        node,
        registers,
        built.points,
        built.edges,
        built.entry,
        built.exit,
        tuple(built.labels.items()),
        tuple((sender, cells[0], lane) for sender, cells, lane in names.posted),
        one.many,
        one.family,
        tuple((lane, node) for lane, node in lanes.items() if node is not None),
    )


def own_names(item: ast.ThreadDeclaration, node: NodeNames | None) -> dict[str, str]:
    """Return what the names are that a thread can use itself."""
    found = {} if node is None else dict.fromkeys(node.variables, f"a variable of node {node.name}")
    for statement in item.body.statements:
        if isinstance(statement, ast.Registers):
            found |= {r.name.text: f"a register (line {r.name.span.line})" for r in statement.registers}
    return found
