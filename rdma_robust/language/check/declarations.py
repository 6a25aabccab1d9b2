"""Top-level declarations, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import assert_never

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import NO_SPAN, Edit, Span
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import StepLimit
from rdma_robust.language.check.control import GraphBuilder, Shape
from rdma_robust.language.check.expansion import Expander, ExpansionLimit
from rdma_robust.language.check.expectations import Expectations
from rdma_robust.language.check.hardware_line import HardwareLines
from rdma_robust.language.check.labels import declare_labels, warn_unused_labels
from rdma_robust.language.check.macros import macros_of
from rdma_robust.language.check.names import Constant, NodeNames, Register, ThreadNames, Variable, World
from rdma_robust.language.check.outcome_lines import invariant, outcome
from rdma_robust.language.check.polling import warn_endless_polls, warn_never_signaled
from rdma_robust.language.check.posting import check_posted_places
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.check.statements import StatementChecker
from rdma_robust.language.check.unreached import unreached
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line, statements_in


class ProgramChecker:
    """Checks a program, declaration by declaration, and builds it.

    The statements of a thread with one of the `shapes` are the edges of an automaton. `taken` are all names that occur.
    """

    def __init__(
        self,
        tree: ast.Program,
        report: Reporter,
        poisoned: frozenset[str],
        shapes: Mapping[str, Shape] | None = None,
        taken: frozenset[str] = frozenset(),
    ) -> None:
        self.tree = tree
        self.report = report
        self.shapes = shapes or {}
        self.world = World(poisoned=set(poisoned))
        self.constants = ConstantResolver(self.world, report)
        self.expander = Expander(self.world, report, macros_of(tree, report, self.world.poisoned), taken)
        self._cells = 0
        self._steps = 0
        self._first: dict[str, Span] = {}
        self._name: str | None = None
        self._expectations = Expectations(report)
        self._hardware = HardwareLines(report)
        self._threads: list[cfg.Thread] = []
        self._expanded: dict[int, ast.Thread] = {}
        self._reached: set[int] = set()
        self._unreached: list[tuple[Span, str]] = []
        self._outcomes: list[claims.OutcomeLine] = []
        self._invariant_lines: list[ast.Invariant] = []

    def check(self, also: Callable[[World, tuple[cfg.Thread, ...]], None] = lambda _world, _threads: None) -> cfg.Program:
        """Return the program; meaningless if there were errors. Warnings are not complete before that either.

        `also` may use names, and is called if there are no errors, before those that are unused are warned of.
        """
        self._look_ahead()
        for item in self.tree.items:
            self._item(item)
        invariants = tuple(invariant(item, self.world, self.report) for item in self._invariant_lines)
        if not self.report.failed:
            also(self.world, tuple(self._threads))
        self._warn_unreached()
        self._warn_unused()
        if not self._threads and not self.report.failed:
            what = "the file is empty" if not self.tree.items else "there is no `thread`"
            self.report.warn("RR706", NO_SPAN, f"{what}: nothing runs, and there is nothing to decide")
        cells = [c for n in self.world.nodes.values() for v in n.variables.values() for c in v.cells]
        return cfg.Program(
            name=self._name if self._name is not None else PurePath(self.report.file).stem,
            file=self.report.file,
            source=self.report.source,
            nodes=tuple(self.world.nodes),
            cells=(*cells, *self.world.hidden.values()),
            threads=tuple(self._threads),
            domain=self.world.domain,
            outcomes=tuple(self._outcomes),
            expectations=self._expectations.found,
            invariants=invariants,
            allow_loopback=self.world.loopback,
            constants=tuple((c.name, c.value) for c in self.world.constants.values() if c.value is not None),
            warnings=tuple(sorted(self.report.warnings, key=lambda d: (d.span.start, d.message))),
            hardware=self._hardware.found,
            undecided=tuple(sorted(self.report.left_to_proofs, key=lambda d: (d.span.start, d.message))),
        )

    @property
    def written_out(self) -> ast.Program:
        """The tree without `for` and macros, once it was checked and found well-formed."""
        items = (self._expanded.get(id(item), item) for item in self.tree.items if not isinstance(item, ast.Macro))
        return ast.Program(tuple(items), self.tree.span)

    def _look_ahead(self) -> None:
        """Note what holds for the whole file, wherever it stands, and where names will be declared."""
        self.world.domain = _domain_of(self.tree, self.report)
        for item in self.tree.items:
            match item:
                case ast.AllowLoopback():
                    self.world.loopback = True
                case ast.Domain():
                    self.world.has_domain = True
                case ast.Constants(bindings):
                    for binding in bindings:
                        self.world.later.setdefault(("constant", binding.name.text), binding.name)
                case ast.Node(name):
                    self.world.later.setdefault(("node", name.text), name)
                case ast.Thread(name, node):
                    self.world.later.setdefault(("thread", name.text), name)
                    self.world.placed.setdefault(name.text, node)
                case _:
                    pass

    def _item(self, item: ast.Item) -> None:
        match item:
            case ast.ProgramName(name):
                if self._only_one(item.span, "`program` line"):
                    self._name = name.text
            case ast.AllowLoopback():
                self._only_one(item.span, "`allow loopback` line")
            case ast.Hardware():
                self._hardware.add(item)
            case ast.Constants(bindings):
                for binding in bindings:
                    self._constant(binding)
            case ast.Domain():
                self._domain(item)
            case ast.Node():
                self._node(item)
            case ast.Thread():
                self._thread(item)
            case ast.Macro():
                self._check_register_places(item)
            case ast.Outcome():
                self._outcomes.append(outcome(item, self.world, self.report))
            case ast.Invariant():
                self._invariant_lines.append(item)
            case ast.Expect():
                self._expectations.add(item)
            case ast.Broken():
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
        self.world.constants[name.text] = Constant(name.text, value, name.span)

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

    def _node(self, item: ast.Node) -> None:
        self.world.later.pop(("node", item.name.text), None)
        before = self.world.nodes.get(item.name.text)
        duplicate = self._taken(item.name, "node", before.span if before else None)
        node = NodeNames(item.name.text, item.name.span, item)
        for cell in item.cells:
            self._cell(cell, node)
        if not duplicate:
            self.world.nodes[node.name] = node

    def _cell(self, item: ast.Cell, node: NodeNames) -> None:
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
        cells: tuple[cfg.Cell, ...] = (cfg.Cell(node.name, name.text, init),)
        if item.size is not None:
            cells = tuple(cfg.Cell(node.name, f"{name.text}[{k}]", init) for k in range(size or 1))
            size = size or 1
        node.variables[name.text] = Variable(name.text, node.name, size, cells, name.span, certain)
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

    def _thread(self, item: ast.Thread) -> None:
        self.world.later.pop(("thread", item.name.text), None)
        before = self.world.threads.get(item.name.text)
        duplicate = self._taken(item.name, "thread", before.span if before else None)
        node = self.world.nodes.get(item.node.text)
        if node is None and item.node.text not in self.world.poisoned:
            self.report.error(
                "RR202",
                item.node.span,
                f"unknown node {quote(item.node.text)}",
                hint=lambda: advice.nodes(self.world, item.node),
            )
        thread = ThreadNames(item.name.text, node, item.name.span)
        self._check_register_places(item)
        checker = StatementChecker(self.world, self.report, thread, self._spend, self._registers)
        builder = GraphBuilder(checker)
        try:
            written = item
            item = self._expanded[id(written)] = self.expander.thread(written, _own_names(written, node))
            thread.body = item.body
            check_posted_places(item.body, self.report)
            shape = self.shapes.get(item.name.text)
            declare_labels(thread, item.body, self.report)
            built = builder.thread(item.body) if shape is None else builder.automaton(item.body, shape)
        except (StepLimit, ExpansionLimit):
            self.world.poisoned.add(thread.name)
            return
        warn_endless_polls(thread, self.world, self.report)
        warn_never_signaled(thread, self.report)
        if shape is None:
            self._reached |= {step.span.start for _, _, step in built.edges}
            self._unreached += unreached(item.body, built.edges)
        if duplicate:
            return
        self.world.threads[thread.name] = thread
        for label in thread.labels.values():
            label.point = built.labels.get(label.name)
        registers = tuple((r.name, r.init) for r in (*thread.registers.values(), *thread.hidden.values()))
        name = node.name if node is not None else item.node.text
        ends, labels = (built.entry, built.exit), tuple(built.labels.items())
        posted = tuple(thread.posted)
        self._threads.append(cfg.Thread(thread.name, name, registers, built.points, built.edges, *ends, labels, posted))

    def _check_register_places(self, item: ast.Thread | ast.Macro) -> None:
        whole = "thread" if isinstance(item, ast.Thread) else "macro"
        top = {id(s) for s in item.body.statements}
        for statement in statements_in(item.body):
            if isinstance(statement, ast.Registers) and id(statement) not in top:
                self.report.error(
                    "RR208",
                    statement.span,
                    f"registers are declared for the whole {whole}, not in a block",
                    hint="move this line up, out of the braces",
                )

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
                hint="smaller arrays: an access with a computed index is one step per element",
            )
        raise StepLimit

    def _warn_unreached(self) -> None:
        """Warn of statements that are never reached; of one of a `for` or macro only if no copy of it is."""
        for span, message in self._unreached:
            if span.origin is None or span.start not in self._reached:
                self.report.warn("RR703", span, message)

    def _warn_unused(self) -> None:
        for constant in self.world.constants.values():
            if not constant.used:
                self.report.warn("RR701", constant.span, f"constant {quote(constant.name)} is never used")
        for node in self.world.nodes.values():
            for variable in node.variables.values():
                if not variable.used:
                    self.report.warn("RR701", variable.span, f"variable {quote(variable.qualified)} is never used")
        for thread in self.world.threads.values():
            for register in thread.registers.values():
                if not register.used and register.span.origin is None:
                    self.report.warn(
                        "RR701", register.span, f"register {quote(f'{thread.name}.{register.name}')} is never used"
                    )
            warn_unused_labels(thread, self.report)


def _own_names(item: ast.Thread, node: NodeNames | None) -> dict[str, str]:
    """Return what the names are that a thread can use itself."""
    found = {} if node is None else dict.fromkeys(node.variables, f"a variable of node {node.name}")
    for statement in item.body.statements:
        if isinstance(statement, ast.Registers):
            found |= {r.name.text: f"a register (line {r.name.span.line})" for r in statement.registers}
    return found


def _domain_of(tree: ast.Program, report: Reporter) -> tuple[int, int] | None:
    """Return the domain of a program if it is well-formed; errors are for the pass that reports."""
    world = World()
    constants = ConstantResolver(world, Reporter(report.file, report.source))
    for item in tree.items:
        match item:
            case ast.Constants(bindings):
                for binding in bindings:
                    if binding.value is not None:
                        name = binding.name
                        world.constants.setdefault(name.text, Constant(name.text, constants.value(binding.value), name.span))
            case ast.Domain():
                low, high = constants.value(item.low), constants.value(item.high)
                return (low, high) if low is not None and high is not None and low <= high else None
            case _:
                pass
    return None
