"""Top-level declarations, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import assert_never

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import NO_SPAN, Edit, Span
from rdma_robust.language.check import advice, placement_rules
from rdma_robust.language.check.accesses import StepLimit
from rdma_robust.language.check.buffers import checked_via
from rdma_robust.language.check.control import AutomatonShape, GraphBuilder, own_names, thread_of
from rdma_robust.language.check.expansion import Expander, ExpansionLimit
from rdma_robust.language.check.families import (
    FamilyMember,
    OneOfThem,
    PlainNames,
    family_members,
    own_node,
    plain_names,
    single_declaration,
)
from rdma_robust.language.check.lifetimes import with_lifetimes
from rdma_robust.language.check.long_messages import with_long_messages
from rdma_robust.language.check.look_ahead import look_ahead
from rdma_robust.language.check.macros import macros_of
from rdma_robust.language.check.names import (
    Kind,
    NamedConstant,
    NodeNames,
    ProgramNames,
    Register,
    SharedVariable,
    ThreadNames,
)
from rdma_robust.language.check.outcome_lines import checked_outcome, invariant
from rdma_robust.language.check.program_lines import Expectations, HardwareLines, checked_needs
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.check.statements import StatementChecker
from rdma_robust.language.check.substitution import Substitution
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line


class ProgramChecker:
    """Checks a program, declaration by declaration, and builds it.

    The statements of a thread with one of the `shapes` are the edges of an automaton. `taken` are all names that occur.
    """

    def __init__(
        self,
        tree: ast.ProgramTree,
        report: Reporter,
        poisoned: frozenset[str],
        shapes: Mapping[str, AutomatonShape] | None = None,
        taken: frozenset[str] = frozenset(),
    ) -> None:
        self.tree = tree
        self.report = report
        self.shapes = shapes or {}
        self._taken_names = taken
        self.world = ProgramNames(poisoned=set(poisoned))
        self.constants = ConstantResolver(self.world, report)
        macros = macros_of(tree, report, self.world.poisoned)
        self.one_of = OneOfThem(self.world, report, "statement")
        self.expander = Expander(self.world, report, macros, taken, self.one_of)
        self._cells = 0
        self._steps = 0
        self._first: dict[str, Span] = {}
        self._declared: dict[tuple[str, str], Span] = {}
        self._name: str | None = None
        self._expectations = Expectations(report)
        self._hardware = HardwareLines(report)
        self._needs: list[claims.NeedsLine] = []
        self._threads: list[cfg.Thread] = []
        self._expanded: dict[int, list[ast.ThreadDeclaration | ast.NodeDeclaration]] = {}
        self._reached: set[int] = set()
        self._unreached: list[tuple[Span, str]] = []
        self._outcomes: list[claims.OutcomeLine] = []
        self._invariant_lines: list[ast.InvariantDeclaration] = []

    def check(
        self, also: Callable[[ProgramNames, tuple[cfg.Thread, ...]], None] = lambda _world, _threads: None
    ) -> cfg.Program:
        """Return the program; meaningless if there were errors. Warnings are not complete before that either.

        `also` may use names, and is called if there are no errors, before those that are unused are warned of.
        """
        look_ahead(self.tree, self.world, self.report)
        for item in self.tree.items:
            self._item(item)
        lines = (invariant(item, self.world, self.report) for item in self._invariant_lines)
        invariants = tuple(line for line in lines if line is not None)
        placement_rules.check_crowds(self.tree, self.world, self.report)
        self._threads = [self._hardware.bounded(t, self.world.threads[t.name]) for t in self._threads]
        self._threads, words = with_long_messages(self._threads, self.world, self._hardware.found, self.report)
        if not self.report.failed:
            also(self.world, tuple(self._threads))
        threads = with_lifetimes(self._threads, self.world, self.report)
        placement_rules.warn_unreached_statements(self._unreached, self._reached, self.report)
        placement_rules.warn_unused_names(self.world, self.report)
        if not any(isinstance(item, ast.ThreadDeclaration) for item in self.tree.items) and not self.report.failed:
            what = "the file is empty" if not self.tree.items else "there is no `thread`"
            self.report.warn("RR706", NO_SPAN, f"{what}: nothing runs, and there is nothing to decide")
        cells = [c for n in self.world.nodes.values() for v in n.variables.values() for c in v.cells]
        return cfg.Program(
            name=self._name if self._name is not None else PurePath(self.report.file).stem,
            file=self.report.file,
            source=self.report.source,
            nodes=tuple(self.world.nodes),
            cells=(*cells, *self.world.hidden.values()),
            threads=threads,
            words=words,
            domain=self.world.domain,
            outcomes=tuple(self._outcomes),
            expectations=self._expectations.found,
            invariants=invariants,
            needs=tuple(self._needs),
            allow_loopback=self.world.loopback,
            constants=tuple((c.name, c.value) for c in self.world.constants.values() if c.value is not None),
            warnings=self.report.warnings,
            hardware=self._hardware.found,
            undecided=self.report.left_to_proofs,
            many_nodes=tuple(name for name in self.world.nodes if self._is_open("node", name)),
            behind=tuple((name, self.world.vias[name]) for name in self.world.nodes if name in self.world.vias),
        )

    def _is_open(self, kind: Kind, name: str) -> bool:
        group = self.world.groups.get((kind, name))
        return group is not None and group.is_open

    @property
    def written_out(self) -> ast.ProgramTree:
        """The tree without `for`, macros and families, once it was checked and found well-formed."""
        kept = (item for item in self.tree.items if not isinstance(item, ast.Macro))
        items: Iterable[ast.Item] = (made for item in kept for made in self._expanded.get(id(item), [item]))
        if self.world.groups:
            written = PlainNames(self.world, self.plain_names)
            items = (made for item in items for made in written.items(item))
        return ast.ProgramTree(tuple(items), self.tree.span)

    @property
    def plain_names(self) -> dict[str, str]:
        """The names without brackets that the nodes and threads of families have in the tree that is written out."""
        return plain_names(self.world, self._taken_names)

    def _item(self, item: ast.Item) -> None:
        match item:
            case ast.ProgramName(name):
                if self._only_one(item.span, "`program` line"):
                    self._name = name.text
            case ast.AllowLoopback():
                self._only_one(item.span, "`allow loopback` line")
            case ast.HardwareDeclaration():
                self._hardware.add(item)
            case ast.Constants(bindings):
                for binding in bindings:
                    self._constant(binding)
            case ast.Domain():
                self._domain(item)
            case ast.NodeDeclaration():
                self._node(item)
            case ast.ThreadDeclaration():
                self._thread(item)
            case ast.Macro():
                placement_rules.check_register_places(item, self.report)
            case ast.OutcomeDeclaration():
                line = checked_outcome(item, self.world, self.report)
                self._outcomes += () if line is None else (line,)
            case ast.InvariantDeclaration():
                self._invariant_lines.append(item)
            case ast.Expect():
                self._expectations.add(item, self.world)
            case ast.NeedsDeclaration():
                self._needs += checked_needs(item, self.report)
            case ast.BrokenStatement():
                pass
            case _:
                assert_never(item)

    def _only_one(self, span: Span, what: str) -> bool:
        first = self._first.setdefault(what, span)
        if first is not span:
            self.report.error("RR206", span, f"a second {what}; the first is on line {first.line}")
        return first is span

    def _taken(self, name: ast.Ident, what: str, before: Span | None) -> bool:
        if before is not None:
            self.report.error("RR204", name.span, f"{what} {quote(name.text)} was declared before, on line {before.line}")
        return before is not None

    def _constant(self, binding: ast.Binding) -> None:
        name = binding.name
        assert binding.value is not None
        self.world.later.pop(("constant", name.text), None)
        value = self.constants.value(binding.value)
        before = self.world.constants.get(name.text)
        if self._taken(name, "constant", before.span if before else None):
            return
        owner = next(self.world.nodes_with(name.text), None)
        if owner is not None:
            self.report.error(
                "RR205", name.span, f"constant {quote(name.text)} has the name of a variable of node {owner.name}"
            )
        self.world.constants[name.text] = NamedConstant(name.text, value, name.span)

    def _domain(self, item: ast.Domain) -> None:
        low, high = self.constants.value(item.low), self.constants.value(item.high)
        if not self._only_one(item.span, "`domain` line") or low is None or high is None:
            return
        if low > high:
            self.report.error(
                "RR213",
                item.span,
                f"the domain {low}..{high} is empty",
                expected="the smaller bound first",
                hint=Hint(f"`domain {high}..{low}`", (Edit(item.span, f"domain {high}..{low}"),)),
            )

    def _value(self, expr: ast.Expr | None) -> int:
        """Return an initial value."""
        if expr is None:
            return 0
        value = self.constants.value(expr)
        domain = self.world.domain
        if value is not None and domain is not None and not domain[0] <= value <= domain[1]:
            self.report.warn("RR704", expr.span, f"the initial value {value} is outside the domain {domain[0]}..{domain[1]}")
        return 0 if value is None else value

    def _is_second(self, item: ast.NodeDeclaration | ast.ThreadDeclaration) -> bool:
        """Return whether there is a node or thread of the same name already, which is reported."""
        kind: Kind = "node" if isinstance(item, ast.NodeDeclaration) else "thread"
        self.world.later.pop((kind, item.name.text), None)
        before = self._declared.setdefault((kind, item.name.text), item.name.span)
        return self._taken(item.name, kind, None if before is item.name.span else before)

    def _node(self, item: ast.NodeDeclaration) -> None:
        duplicate = self._is_second(item)
        self._expanded |= {id(item): []} if item.family is not None and item.family.low is not None else {}
        for one in family_members(item, self.world, self.report):
            self.report.copy = one.copy
            self._one_node(item, one, duplicate=duplicate)
            if one.copy is not None and self._cells > cfg.MAX_CELLS:
                message = f"too many variables: more than {cfg.MAX_CELLS:,} with this family"
                self.report.error("RR214", item.name.span, message)
                break
        self.report.copy = None

    def _one_node(self, item: ast.NodeDeclaration, one: FamilyMember, *, duplicate: bool) -> None:
        private = item.family is not None and item.family.many
        node = NodeNames(one.name, item.name.span, item, private=private)
        put_in = Substitution(one.scope, self.report)
        via = None if item.via is None else checked_via(item, item.via, one, self.world, self.report)
        cells = item.cells if one.scope.plain else tuple(put_in.cell(cell) for cell in item.cells)
        for cell in cells:
            self._cell(cell, node)
        if one.family is not None:
            made = replace(item, name=replace(item.name, text=one.name), cells=cells, family=None, via=via)
            self._expanded[id(item)].append(made)
        if not duplicate:
            self.world.nodes[node.name] = node

    def _cell(self, item: ast.CellDeclaration, node: NodeNames) -> None:
        name = item.name
        size = None if item.size is None else self._size(item.size)
        init = self._value(item.init)
        before = node.variables.get(name.text)
        if self._taken(name, "variable", before.span if before else None):
            return
        constant = self.world.constants.get(name.text)
        if constant is not None:
            self.report.error(
                "RR205", name.span, f"variable {quote(name.text)} has the name of a constant (line {constant.span.line})"
            )
        certain = item.size is None or size is not None
        cells: tuple[cfg.Cell, ...] = (
            cfg.Cell(
                node.name,
                name.text,
                init,
                relaxed=item.relaxed,
                sync=item.sync,
                via=self.world.vias.get(node.name, ""),
            ),
        )
        if item.size is not None:
            cells = tuple(replace(cells[0], name=f"{name.text}[{k}]") for k in range(size or 1))
            size = size or 1
        node.variables[name.text] = SharedVariable(name.text, node.name, size, cells, name.span, certain)
        self._cells += len(cells)

    def _size(self, expr: ast.Expr) -> int | None:
        """Return the size of an array; None after an error."""
        size = self.constants.value(expr)
        if size is None:
            return None
        if size < 1:
            self.report.error("RR212", expr.span, f"an array of size {size}", expected="a size of at least 1")
            return None
        if self._cells + size > cfg.MAX_CELLS:
            self.report.error("RR214", expr.span, f"too many variables: more than {cfg.MAX_CELLS:,} with this array")
            return None
        return size

    def _thread(self, item: ast.ThreadDeclaration) -> None:
        duplicate = self._is_second(item)
        self._expanded[id(item)] = []
        placement_rules.check_register_places(item, self.report)
        for one in family_members(item, self.world, self.report):
            self.report.copy = one.copy
            try:
                self._one_thread(item, one, duplicate=duplicate)
            except (StepLimit, ExpansionLimit):
                self.world.poisoned.add(one.name)
                break
        self.report.copy = None

    def _one_thread(self, written: ast.ThreadDeclaration, one: FamilyMember, *, duplicate: bool) -> None:
        place = self._place_of(written, one)
        node = self.world.nodes.get(place.text)
        own = written.on_own and ("node", written.node.text) in self.world.groups
        if node is None and not own and place.text not in self.world.poisoned:
            hint = partial(advice.nodes, self.world, place)
            self.report.error("RR202", place.span, f"unknown node {quote(place.text)}", hint=hint)
        crowd = written.family is not None and written.family.many
        thread = ThreadNames(one.name, node, written.name.span, crowd=crowd)
        checker = StatementChecker(self.world, self.report, thread, self._spend, self._registers)
        builder = GraphBuilder(checker)
        item = self.expander.thread(written, own_names(written, node), one.scope)
        made = item if one.family is None else single_declaration(item, one.name, place.text)
        self._expanded[id(written)].append(made)
        thread.body = item.body
        placement_rules.check_posted_places(item.body, self.report)
        shape = self.shapes.get(one.name)
        placement_rules.declare_labels(thread, item.body, self.report)
        built = builder.thread(item.body) if shape is None else builder.automaton(item.body, shape)
        placement_rules.warn_polls(thread, built.edges, self.report)
        if shape is None:
            self._reached |= {step.span.start for _, _, step in built.edges}
            self._unreached += placement_rules.unreached_statements(item.body, built.edges)
        if duplicate:
            return
        self.world.threads[thread.name] = thread
        for label in thread.labels.values():
            label.point = built.labels.get(label.name)
        lanes = self.world.lanes.get(one.name, {})
        self._threads.append(thread_of(thread, built, node.name if node is not None else place.text, one, lanes))

    def _place_of(self, item: ast.ThreadDeclaration, one: FamilyMember) -> ast.Ident:
        """Return the node that one of the threads of a declaration runs on; after an error one of which all was said."""
        own = own_node(item, one)
        if item.on_own:
            return own
        return Substitution(one.scope, self.report, OneOfThem(self.world, self.report, "place")).place(own)

    def _registers(self, thread: ThreadNames, item: ast.Registers) -> None:
        for binding in item.registers:
            name = binding.name
            init = self._value(binding.value)
            before = thread.registers.get(name.text)
            if self._taken(name, "register", before.span if before else None):
                continue
            variable = thread.node.variables.get(name.text) if thread.node is not None else None
            if variable is not None:
                self.report.error(
                    "RR205", name.span, f"register {quote(name.text)} has the name of a variable of node {variable.node}"
                )
            elif name.text in self.world.constants:
                line = self.world.constants[name.text].span.line
                self.report.error(
                    "RR205", name.span, f"register {quote(name.text)} has the name of a constant (line {line})"
                )
            thread.registers[name.text] = Register(name.text, init, name.span)

    def _spend(self, span: Span) -> None:
        """Count a step of the statement at `span`."""
        self._steps += 1
        if self._steps <= cfg.MAX_STEPS:
            return
        if self._steps == cfg.MAX_STEPS + 1:
            self.report.error(
                "RR215",
                first_line(span),
                f"this program is too large: its control-flow graphs have more than {cfg.MAX_STEPS:,} steps",
                hint=f"fewer of them: there are {copy.size:,} in {copy.of}"
                if (copy := self.report.copy) is not None and copy.size > 1
                else "smaller arrays: an access with a computed index is one step per element",
            )
        raise StepLimit
