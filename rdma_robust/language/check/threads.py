"""Names inside a thread: registers, constants, and the cells it can reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.expr import VALUE, Const, Expr, Name
from rdma_robust.language.check import advice
from rdma_robust.language.check.families import OneOfThem
from rdma_robust.language.check.names import NamedConstant, NodeNames, ProgramNames, Register, SharedVariable, ThreadNames
from rdma_robust.language.check.proposals import Proposals
from rdma_robust.language.check.resolve import UNKNOWN, Resolver
from rdma_robust.language.check.rewrites import Part, Site, insertion, references
from rdma_robust.language.syntax import ast

Named = Register | NamedConstant | SharedVariable


@dataclass(frozen=True, slots=True)
class VariableAccess:
    """One shared cell: a variable, or the element of an array that `index` gives. `span` is where it is named."""

    variable: SharedVariable
    index: Expr | None
    span: Span

    def same_cell(self, other: VariableAccess) -> bool:
        return self.variable is other.variable and self.index == other.index


@dataclass(frozen=True, slots=True)
class ResolvedExpr:
    """A resolved expression; VALUE in it is what `access` reads."""

    expr: Expr
    access: VariableAccess | None
    span: Span


class ThreadResolver(Resolver):
    """Resolves the expressions of one thread."""

    def __init__(self, world: ProgramNames, report: Reporter, thread: ThreadNames) -> None:
        super().__init__(world, report)
        self.thread = thread
        self._read: VariableAccess | None = None
        self._whole: ast.Expr = ast.NumberLiteral(0)
        self._private = ""
        self._before = ""
        self.part: Part | None = None

    def reading(self, expr: ast.Expr, before: str = "") -> ResolvedExpr:
        """Resolve an expression that may read one shared cell; `before` is what stands before it in its statement."""
        self._read, self._private, self._before, self._whole = None, "", before, expr
        result = self.resolve(expr)
        return ResolvedExpr(result, self._read, expr.span)

    def private(self, expr: ast.Expr, reason: str, before: str = "") -> ResolvedExpr:
        """Resolve an expression over registers and constants.

        `reason` says why it may read nothing shared, `before` what stands before it in its statement.
        """
        outer = self._private, self._before, self._whole
        self._private, self._before, self._whole = reason, before, expr
        result = self.resolve(expr)
        self._private, self._before, self._whole = outer
        return ResolvedExpr(result, None, expr.span)

    def named(self, ref: ast.Ref) -> Expr:
        match self.find(ref):
            case None:
                if ref.index is not None:
                    self._index(ref.index)
                return UNKNOWN
            case NamedConstant() as constant:
                self.no_index(ref)
                return self.constant(constant)
            case Register(name):
                self.no_index(ref)
                return Name(name)
            case SharedVariable() as variable:
                return self._shared(ref, variable)

    def _shared(self, ref: ast.Ref, variable: SharedVariable) -> Expr:
        if self._private:
            self.report.error(
                "RR306",
                ref.span,
                f"{quote(advice.shown_reference(ref))} is a shared variable: {self._private}",
                hint=self._through_register(ref, variable),
            )
            return UNKNOWN
        access = self.access(ref, variable)
        if self._read is None:
            self._read = access
        elif not self._read.same_cell(access):
            self.report.error(
                "RR307",
                ref.span,
                "a second shared variable in one statement: a statement reads at most one",
                hint=self._through_register(ref, variable),
            )
        return VALUE

    @property
    def proposals(self) -> Proposals:
        """What can be proposed about the part of a statement that is looked at."""
        node = self.thread.node.item if self.thread.node is not None else None
        return Proposals(self.world, self.thread, Site(self.report.source, self.thread.body, node, self.part))

    def _through_register(self, ref: ast.Ref, variable: SharedVariable) -> Callable[[], Hint]:
        whole, before, proposals = self._whole, self._before, self.proposals
        return lambda: advice.element_hint(ref, variable) or proposals.through_register(ref, whole, before)

    def access(self, ref: ast.Ref, variable: SharedVariable) -> VariableAccess:
        """Return the access that `ref` makes to `variable`, after checking whether and how it is indexed."""
        if not self.is_indexed(ref, variable):
            return VariableAccess(variable, None, ref.span)
        assert ref.index is not None
        assert variable.size is not None
        index = self._index(ref.index)
        if isinstance(index, Const) and not 0 <= index.value < variable.size:
            if variable.certain:
                self.report_outside(ref.index, index.value, variable)
            index = Const(0)
        return VariableAccess(variable, index, ref.span)

    def _index(self, index: ast.Expr) -> Expr:
        return self.private(index, "an index is made of registers and constants").expr

    def find(self, ref: ast.Ref, written: ast.Expr | None = None, role: str = "") -> Named | None:
        """Return what a reference stands for where the CPU computes; None after an error.

        If the CPU writes to `ref`, `written` is the value; `role` says why it must be of this node if nothing replaces it.
        """
        if ref.owner is not None:
            node = self.node(ref.owner)
            if node is None:
                return None
            if not self.reaches(node):
                self._remote_access(ref, node, written, role)
                return None
            return self.variable(ref, node)
        name = ref.name.text
        found: Named | None = self.thread.registers.get(name) or self.world.constants.get(name)
        own = self.thread.node
        if found is None and own is not None:
            found = own.variables.get(name)
        if found is not None:
            found.used = True
        elif own is not None and name not in self.world.poisoned:
            nodes = sorted(self.world.nodes_with(name), key=lambda node: not self.reaches(node))
            elsewhere = next(iter(nodes), None)
            if elsewhere is not None:
                self._remote_access(ref, elsewhere, written, role)
            else:
                site = self.proposals.site
                self.report.error(
                    "RR201",
                    ref.name.span,
                    f"unknown name {quote(name)}",
                    hint=lambda: advice.unknown_name(self.world, self.thread, site, ref),
                )
        return found

    def reaches(self, node: NodeNames) -> bool:
        """Whether the processor of the thread reaches the memory of a node: its own, and what shares a card with that."""
        own = self.thread.node
        return own is not None and self.world.card(node.name) == self.world.card(own.name)

    def _remote_access(self, ref: ast.Ref, node: NodeNames, written: ast.Expr | None, role: str) -> None:
        own = self.thread.node
        variable = self.variable(ref, node)
        if own is None or variable is None:
            return
        place = ast.Ref(ast.Ident(node.name), ref.name, ref.index)
        shown = quote(advice.shown_reference(place))
        if self.reaches(node):
            hint = Hint(f"write {shown}", (insertion(self.report.source, ref.span.start, f"{node.name}."),))
            message = f"{quote(ref.name.text)} is a variable of node {node.name}, beside {own.name}"
            self.report.error("RR308", ref.span, message, hint=hint)
            return
        if role:
            self.report.error("RR308", ref.span, f"{shown} is on another node: {role}")
            return
        proposals, private, verb = self.proposals, bool(self._private), "reads" if written is None else "writes"
        whole = self._whole if any(each is ref for each in references(self._whole)) else ref
        self.report.error(
            "RR308",
            ref.span,
            f"{shown} is on another node: thread {self.thread.name} {verb} only variables of {own.name} directly",
            hint=lambda: advice.element_hint(ref, variable) or proposals.remote(ref, place, written or whole, verb, private),
        )

    def node(self, name: ast.Ident) -> NodeNames | None:
        """Return a node by name; None after an error."""
        name = name if name.index is None else OneOfThem(self.world, self.report, "statement")(name, "node")
        found = self.world.nodes.get(name.text)
        if found is None and name.text not in self.world.poisoned:
            self.report.error("RR202", name.span, f"unknown node {quote(name.text)}", hint=lambda: self._unknown_node(name))
        return found

    def _unknown_node(self, name: ast.Ident) -> Hint:
        if name.text in self.world.threads:
            return Hint(f"{quote(name.text)} is a thread; registers are private to their thread")
        return advice.nodes(self.world, name)

    def variable(self, ref: ast.Ref, node: NodeNames) -> SharedVariable | None:
        """Return a variable of `node` by name; None after an error."""
        found = node.variables.get(ref.name.text)
        if found is not None:
            found.used = True
        elif ref.name.text not in self.world.poisoned:
            self.report.error(
                "RR203",
                ref.name.span,
                f"node {node.name} has no variable {quote(ref.name.text)}",
                hint=lambda: advice.member_hint(node, ref.name),
            )
        return found
