"""`outcome` lines: conditions over final states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from rdma_robust.diagnose import Hint, Reporter, listing, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Const, Expr, Name, conj, negate
from rdma_robust.language.check import advice
from rdma_robust.language.check.families import KINDS, OneOfThem, Where, applies_here
from rdma_robust.language.check.meaning import CopiesResolver, check_presence, divides_by_no_zero
from rdma_robust.language.check.names import ProgramNames, Register, SharedVariable, ThreadNames, declared, family_name
from rdma_robust.language.check.resolve import UNKNOWN, ConstantResolver, Resolver
from rdma_robust.language.check.rewrites import insertion
from rdma_robust.language.flow.claims import CopiesWith, EndedAtom, InvariantLine, OutcomeClaim, OutcomeLine, PointAt
from rdma_robust.language.syntax import ast, printer


class OutcomeResolver(Resolver):
    """Names are `Thread.register` and `Node.cell`, or constants. `WHAT` is what diagnostics call the condition."""

    WHAT: ClassVar = "an outcome"

    def __init__(self, world: ProgramNames, report: Reporter, where: Where = "claim") -> None:
        super().__init__(world, report)
        self._one_of = OneOfThem(world, report, where)
        self._copies = CopiesResolver(self)
        self.copy: ThreadNames | None = None
        """The copy that a condition is about, if it is one on copies."""

    @property
    def counts(self) -> dict[str, CopiesWith]:
        """What the condition asks of numbers of copies that are not given."""
        return self._copies.found

    @property
    def spans(self) -> dict[str, Span]:
        """Where each of `counts` stands."""
        return self._copies.spans

    def copies(self, expr: ast.CopiesWhere) -> Expr:
        return self._copies.resolve(expr)

    def said_of_threads(self) -> dict[str, PointAt | EndedAtom]:
        """Return what was said of where threads are, and forget it."""
        return {}

    def also_said(self, atoms: Mapping[str, PointAt | EndedAtom]) -> None:
        """Note what is said of where threads are."""

    def _owner(self, name: ast.Ident) -> ast.Ident:
        """Return a thread or node itself, also one of a family."""
        if name.index is None and not self.world.groups:
            return name
        found = [(kind, group) for kind in KINDS if (group := self.world.groups.get((kind, name.text)))]
        if not found:
            return self._one_of(name, "node" if name.text in self.world.nodes else "thread")
        kind, _ = max(found, key=lambda each: len(each[1].numbers or ()))
        return self._one_of(name, kind)

    def named(self, ref: ast.Ref) -> Expr:
        if ref.owner is None:
            return self._unqualified(ref)
        ref = replace(ref, owner=self._owner(ref.owner))
        assert ref.owner is not None
        found = self._member(ref, ref.owner)
        match found:
            case None:
                return UNKNOWN
            case Register(name):
                found.used = True
                self.no_index(ref)
                return Name(f"{ref.owner.text}.{name}")
            case SharedVariable():
                found.used = True
                return self._cell(ref, found)

    def _unqualified(self, ref: ast.Ref) -> Expr:
        name = ref.name.text
        if self.copy is not None and (found := self._of_copy(ref, self.copy)) is not None:
            return found
        constant = self.world.constants.get(name)
        if constant is not None:
            self.no_index(ref)
            return self.constant(constant)
        if name not in self.world.poisoned:
            owners = [t.name for t in self.world.threads_with(name)] + [n.name for n in self.world.nodes_with(name)]
            index = advice.unqualified(ref)
            wanted = f"{self.WHAT} names `Thread.register` and `Node.variable`"
            if self.copy is not None:
                wanted = (
                    f"a copy of {quote(family_name(self.copy.name))} has no such register, and its node no such variable"
                )
            self.report.error(
                "RR502",
                ref.span,
                f"{quote(name)} is not a constant; {wanted}",
                hint=Hint(
                    f"did you mean {listing(f'`{owner}.{index}`' for owner in owners[:3])}?" if owners else "",
                    (insertion(self.report.source, ref.span.start, f"{owners[0]}."),) if len(owners) == 1 else (),
                ),
            )
        return UNKNOWN

    def _of_copy(self, ref: ast.Ref, copy: ThreadNames) -> Expr | None:
        """Return a register of a copy, or a variable of its node."""
        if (register := copy.registers.get(ref.name.text)) is not None:
            register.used = True
            self.no_index(ref)
            return Name(f"{copy.name}.{register.name}")
        variable = None if copy.node is None else copy.node.variables.get(ref.name.text)
        if variable is None:
            return None
        variable.used = True
        return self._cell(ref, variable)

    def _member(self, ref: ast.Ref, owner: ast.Ident) -> Register | SharedVariable | None:
        thread, node = self.world.threads.get(owner.text), self.world.nodes.get(owner.text)
        name = ref.name.text
        register = thread.registers.get(name) if thread is not None else None
        variable = node.variables.get(name) if node is not None else None
        if register is not None and variable is not None:
            self.report.error(
                "RR218",
                ref.span,
                f"{quote(advice.shown_reference(ref))} is both a register of thread {owner.text} "
                f"and a variable of node {owner.text}",
                hint="give the thread or the register another name",
            )
            return None
        if register is None and variable is None and not {name, owner.text} & self.world.poisoned:
            self._report_unknown(ref, owner)
        return register or variable

    def _report_unknown(self, ref: ast.Ref, owner: ast.Ident) -> None:
        thread, node = self.world.threads.get(owner.text), self.world.nodes.get(owner.text)
        if thread is None and node is None:
            self.report.error(
                "RR217",
                owner.span,
                f"{quote(owner.text)} is neither a thread nor a node",
                hint=lambda: advice.owners(self.world, owner),
            )
            return
        known = [*(thread.registers if thread else ()), *(node.variables if node else ())]
        kinds = [k for k, there in (("register", thread), ("variable", node)) if there is not None]
        self.report.error(
            "RR203",
            ref.name.span,
            f"{owner.text} has no {listing(kinds)} {quote(ref.name.text)}",
            hint=lambda: meant_at(ref.name.span, ref.name.text, known),
        )

    def _cell(self, ref: ast.Ref, variable: SharedVariable) -> Expr:
        if not self.is_indexed(ref, variable):
            return Name(str(variable.cells[0]))
        assert ref.index is not None
        assert variable.size is not None
        index = ConstantResolver(self.world, self.report).resolve(ref.index)
        if not isinstance(index, Const) or not variable.certain:
            return UNKNOWN
        if not 0 <= index.value < variable.size:
            self.report_outside(ref.index, index.value, variable)
            return UNKNOWN
        return Name(str(variable.cells[index.value]))


class StateResolver(OutcomeResolver):
    """Besides, there is what says where threads are: that becomes names of `atoms`."""

    WHAT = "an invariant"

    def __init__(self, world: ProgramNames, report: Reporter, where: Where = "claim") -> None:
        super().__init__(world, report, where)
        self.atoms: dict[str, PointAt | EndedAtom] = {}

    def said_of_threads(self) -> dict[str, PointAt | EndedAtom]:
        said, self.atoms = self.atoms, {}
        return said

    def also_said(self, atoms: Mapping[str, PointAt | EndedAtom]) -> None:
        self.atoms |= atoms

    def place(self, expr: ast.ThreadAt | ast.ThreadEnded) -> Expr:
        thread = self.thread(expr.thread)
        expr = replace(expr, thread=ast.Ident(thread.name if thread else "", expr.thread.span))
        if thread is None:
            return UNKNOWN
        atom: PointAt | EndedAtom = EndedAtom(thread.name)
        if isinstance(expr, ast.ThreadAt):
            label = thread.labels.get(expr.label.text)
            if label is None:
                self._report_label(thread, expr.label)
                return UNKNOWN
            label.used = True
            if label.point is None:
                return Const(0)
            atom = PointAt(thread.name, label.name)
        self.atoms[printer.expression(expr)] = atom
        return Name(printer.expression(expr))

    def thread(self, name: ast.Ident) -> ThreadNames | None:
        """Return a thread by name; None after an error."""
        if self.copy is not None and name.index is None and name.text == family_name(self.copy.name):
            return self.copy
        if name.index is not None or self.world.groups:
            name = self._one_of(name, "thread")
        thread = self.world.threads.get(name.text)
        if thread is None and name.text not in self.world.poisoned:
            self.report.error(
                "RR217",
                name.span,
                f"there is no thread {quote(name.text)}",
                hint=lambda: meant_at(name.span, name.text, declared(self.world, "thread", self.world.threads)),
            )
        return thread

    def _report_label(self, thread: ThreadNames, name: ast.Ident) -> None:
        if name.text in self.world.poisoned:
            return
        self.report.error(
            "RR224",
            name.span,
            f"thread {thread.name} has no label {quote(name.text)}",
            expected="" if thread.labels else "a label, which stands before a statement as `NAME: statement`",
            hint=lambda: meant_at(name.span, name.text, thread.labels),
        )


def checked_outcome(item: ast.OutcomeDeclaration, world: ProgramNames, report: Reporter) -> OutcomeLine | None:
    """Return a checked outcome line, None if it is about other numbers than there are; errors go to the report. A condition
    that is undefined does not hold."""
    holds = applies_here(item, world, report)
    resolver = OutcomeResolver(world, report, "claim" if holds else "other claim")
    condition = resolver.resolve(item.condition)
    claims = tuple(OutcomeClaim(c.allowed, c.model) for c in item.claims)
    seen: dict[str, ast.ClaimClause] = {}
    for claim in item.claims:
        before = seen.setdefault(claim.model, claim)
        if before is not claim:
            same = before.allowed == claim.allowed
            what = "is claimed twice" if same else "is claimed to be both allowed and forbidden"
            report.error("RR501", claim.span, f"under {claim.model} this outcome {what}")
    counts = tuple(resolver.counts.items())
    line = OutcomeLine(
        conj(divides_by_no_zero(condition), condition), claims, report.at(item.span), printer.item(item), counts
    )
    return line if holds else None


def invariant(item: ast.InvariantDeclaration, world: ProgramNames, report: Reporter) -> InvariantLine | None:
    """Return a checked invariant, None if it is about other numbers than there are; errors go to the report.

    A condition that is undefined does not hold.
    """
    holds = applies_here(item, world, report)
    resolver = StateResolver(world, report, "claim" if holds else "other claim")
    condition = resolver.resolve(item.condition)
    text = printer.item(item)
    if not holds:
        return None
    whole = conj(divides_by_no_zero(condition), condition)
    if not report.failed:
        check_presence(negate(whole), resolver.spans, report, "an invariant")
    counts = tuple(resolver.counts.items())
    return InvariantLine(whole, tuple(resolver.atoms.items()), report.at(item.span), text, counts)
