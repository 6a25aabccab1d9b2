"""From written expressions to resolved ones: operators, folding, and the rules that hold wherever an expression stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from rdma_robust.diagnose import Hint, Reporter, meant_at, quote
from rdma_robust.errors import Edit, Span
from rdma_robust.expr import COMPARISONS, OPERATORS, Binary, Const, Expr, Name, Unary
from rdma_robust.language.check import advice
from rdma_robust.language.check.names import NamedConstant, ProgramNames, SharedVariable
from rdma_robust.language.check.rewrites import at_the_top
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line

LIMIT: Final = 10**18
UNKNOWN: Final = Name("$unknown")
"""Stands for what could not be resolved; it never leaves the room, since there was an error."""

_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%"})


class Resolver(ABC):
    """Resolves expressions; the subclasses say what names mean. Errors go to the report and give UNKNOWN."""

    def __init__(self, world: ProgramNames, report: Reporter) -> None:
        self.world = world
        self.report = report

    @abstractmethod
    def named(self, ref: ast.Ref) -> Expr:
        """Return what a reference stands for."""

    def place(self, expr: ast.ThreadAt | ast.ThreadEnded) -> Expr:
        """Return what says where a thread is."""
        raise AssertionError(f"only conditions on states say where threads are: {expr}")

    def copies(self, expr: ast.CopiesWhere) -> Expr:
        """Return what says how many copies of a thread are where."""
        raise AssertionError(f"only conditions on states count copies: {expr}")

    def resolve(self, expr: ast.Expr) -> Expr:
        """Return the resolved expression, constants folded."""
        match expr:
            case ast.NumberLiteral(value):
                return Const(value)
            case ast.Ref():
                return self.named(expr)
            case ast.CasCall():
                return self._no_operand(expr, "cas")
            case ast.RmwCall(kind):
                return self._no_operand(expr, kind)
            case ast.FetchCall():
                return self._no_operand(expr, "fetch")
            case ast.NondetCall():
                return self._no_operand(expr, "nondet")
            case ast.ThreadAt() | ast.ThreadEnded():
                return self.place(expr)
            case ast.CopiesWhere():
                return self.copies(expr)
            case ast.Unary(op, arg):
                return self._unary(expr, op, self.resolve(arg))
            case ast.Binary(op, left, right):
                return self._binary(expr, op, self.resolve(left), self.resolve(right))

    def _no_operand(self, expr: ast.Expr, word: str) -> Expr:
        whole = "get x = fetch(...)" if word == "fetch" else f"r = {word}(...)"
        alone = "" if word in ("fetch", "nondet") else ", or a statement of its own"
        expected = f"a whole right-hand side, `{whole}`{alone}"
        self.report.error("RR304", first_line(expr.span), f"`{word}` cannot be part of an expression", expected=expected)
        return UNKNOWN

    def _unary(self, expr: ast.Unary, op: str, arg: Expr) -> Expr:
        if isinstance(arg, Const):
            return Const(-arg.value if op == "-" else int(not arg.value))
        if op == "-":
            self.require_domain(expr, op)
        return Unary(op, arg)

    def _binary(self, expr: ast.Binary, op: str, left: Expr, right: Expr) -> Expr:
        if op in {"/", "%"} and right == Const(0):
            self.report.error("RR302", first_line(expr.span), "division by zero")
            return UNKNOWN
        if isinstance(left, Const) and isinstance(right, Const):
            return self._fold(expr, op, left.value, right.value)
        if op in _ARITHMETIC:
            self.require_domain(expr, op)
        elif op in COMPARISONS:
            self._warn_comparison(expr, left, right)
        return Binary(op, left, right)

    def _fold(self, expr: ast.Binary, op: str, left: int, right: int) -> Expr:
        if op == "&&":
            return Const(int(bool(left) and bool(right)))
        if op == "||":
            return Const(int(bool(left) or bool(right)))
        value = OPERATORS[op](left, right)
        if abs(value) < LIMIT:
            return Const(value)
        self.report.error("RR303", first_line(expr.span), "this constant is too large: more than 18 digits")
        return UNKNOWN

    def require_domain(self, expr: ast.Expr, op: str) -> None:
        """Note that there is arithmetic, which only proofs can do without a domain."""
        if not self.world.has_domain and not self.world.domain_missed:
            self.world.domain_missed = True
            self.report.leave_to_proofs(
                "RR301",
                first_line(expr.span),
                f"arithmetic (`{op}`) in a program without a domain",
                hint=Hint(
                    "say which values there are, for example `domain 0..3`; comparisons need no domain",
                    (at_the_top(self.report.source, "domain 0..3"),),
                ),
            )

    def _warn_comparison(self, expr: ast.Binary, left: Expr, right: Expr) -> None:
        for side, value, other in ((expr.left, left, right), (expr.right, right, left)):
            if isinstance(other, Name):
                self.warn_outside(value, side.span)

    def warn_outside(self, value: Expr, span: Span) -> None:
        """Warn if a value is a constant outside the domain."""
        domain = self.world.domain
        if domain is not None and isinstance(value, Const) and not domain[0] <= value.value <= domain[1]:
            self.report.warn("RR704", first_line(span), f"{value.value} is outside the domain {domain[0]}..{domain[1]}")

    def no_index(self, ref: ast.Ref) -> None:
        """Report an index on something that is no array."""
        if ref.index is not None:
            self.report.error("RR210", ref.span, f"{quote(ref.name.text)} is not an array", hint=self._without_index(ref))

    def _without_index(self, ref: ast.Ref) -> Hint:
        name = ref.name.text if ref.owner is None else f"{ref.owner.text}.{ref.name.text}"
        return Hint(f"write {quote(ref.name.text)}", (Edit(ref.span, name),))

    def is_indexed(self, ref: ast.Ref, variable: SharedVariable) -> bool:
        """Return whether `ref` names an element of an array; report an array without an index, an index on a variable."""
        if ref.index is not None and variable.size is not None:
            return True
        if variable.certain and variable.size is not None:
            hint = advice.first_element(self.report.source, ref)
            self.report.error("RR209", ref.span, f"{quote(variable.name)} is an array", expected="an index", hint=hint)
        elif variable.certain:
            self.no_index(ref)
        return False

    def report_outside(self, index: ast.Expr, value: int, variable: SharedVariable) -> None:
        """Report an index that is a constant and no number of an element."""
        assert variable.size is not None
        message = f"index {value} is outside the array {quote(variable.name)}"
        self.report.error("RR211", index.span, message, expected=f"0 to {variable.size - 1}")

    def constant(self, found: NamedConstant) -> Expr:
        """Return the value of a named constant."""
        found.used = True
        return UNKNOWN if found.value is None else Const(found.value)


class ConstantResolver(Resolver):
    """For places where only numbers and named constants may stand."""

    def named(self, ref: ast.Ref) -> Expr:
        name = ref.name.text
        found = self.world.constants.get(name) if ref.owner is None else None
        if found is not None:
            self.no_index(ref)
            return self.constant(found)
        if name in self.world.poisoned:
            return UNKNOWN
        self.report.error(
            "RR207",
            ref.span,
            f"{quote(advice.shown_reference(ref))} is not a named constant",
            expected="a constant expression",
            hint=lambda: (
                advice.declared_later(self.world, name, "constant") or meant_at(ref.span, name, self.world.constants)
            ),
        )
        return UNKNOWN

    def value(self, expr: ast.Expr) -> int | None:
        """Return the value of a constant expression; None after an error."""
        result = self.resolve(expr)
        return result.value if isinstance(result, Const) else None


def domain_of(tree: ast.ProgramTree, report: Reporter) -> tuple[int, int] | None:
    """Return the domain of a program if it is well-formed; errors are for the pass that reports."""
    world = ProgramNames()
    constants = ConstantResolver(world, Reporter(report.file, report.source))
    for item in tree.items:
        match item:
            case ast.Constants(bindings):
                for binding in bindings:
                    if binding.value is not None:
                        name = binding.name
                        world.constants.setdefault(
                            name.text, NamedConstant(name.text, constants.value(binding.value), name.span)
                        )
            case ast.Domain():
                low, high = constants.value(item.low), constants.value(item.high)
                return (low, high) if low is not None and high is not None and low <= high else None
            case _:
                pass
    return None
