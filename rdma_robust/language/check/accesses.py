"""From one statement to the steps it makes: accesses expanded per array element, guards, and what can go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Span
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, conj, disj, equals, negate, opposite
from rdma_robust.language.check import meaning
from rdma_robust.language.check.threads import ResolvedExpr, VariableAccess
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.going_wrong import failing
from rdma_robust.language.syntax import ast, printer

FaultKind = Literal["overflow", "division by zero", "index out of range"]


@dataclass(slots=True)
class StatementSteps:
    """The steps of a statement or condition: `then` and `otherwise` by the truth of a condition, `faults` to a dead end.

    A statement without a condition has only `then` steps. What is `before` leads to a
    point of its own, where the others begin. Each of the `chains` is a way to go on by several steps, one after the other.
    """

    then: list[cfg.Step] = field(default_factory=list)
    otherwise: list[cfg.Step] = field(default_factory=list)
    faults: list[cfg.Step] = field(default_factory=list)
    before: StatementSteps | None = None
    chains: list[list[cfg.Step]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PayloadSource:
    """The data that a request carries: the word that `access` names or that is `hidden`, or else `value`, over registers.

    `text` is how it is written. What is `inline` the CPU reads when it posts, as it does every `value`.
    """

    text: str
    access: VariableAccess | None = None
    hidden: cfg.Cell | None = None
    value: ResolvedExpr | None = None
    inline: bool = False

    def payload(self, cells: list[cfg.Cell]) -> cfg.Payload:
        """Return it for operations, where `cells` is the word that `access` stands for."""
        if self.value is not None:
            return cfg.Payload(None, self.value.expr, True)
        return cfg.Payload(cells[0] if cells else self.hidden, VALUE, self.inline)


@dataclass(frozen=True, slots=True)
class _Check:
    """A condition that must hold, in the order it is checked, or else `kind` goes wrong."""

    kind: FaultKind
    holds: Expr
    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Choice:
    """One cell an expression may read, and when; no cell if it names none, or (`spared`) does not come to it.

    `needed` says when it comes to it.
    """

    cell: cfg.Cell | None
    guard: Expr
    spared: bool = False
    needed: Expr = TRUE


class StepLimit(Exception):
    """The program has too many steps; it never leaves this room."""


class Lowering:
    """Makes the steps of one statement; `text` and `span` are those of the statement, `report` knows where it stands."""

    def __init__(
        self,
        text: str,
        span: Span,
        domain: tuple[int, int] | None,
        spend: Callable[[Span], None],
        report: Reporter,
    ) -> None:
        self._report = report
        self.text = text
        self.span = span
        self.domain = domain
        self._spend = spend
        self._result = StatementSteps()

    def assign(self, register: str, value: ResolvedExpr, text: str) -> StatementSteps:
        """`register = value`."""
        checks = [_division(value, text), self._overflow(value, text)]
        choices, index_checks = self._choices(value)
        self._faults([*index_checks, *checks], choices)
        for choice in choices:
            guard = conj(choice.guard, *(self._adapt(choice, c.holds) for c in checks))
            self._add(self._result.then, self._read(choice), guard, ((register, self._adapt(choice, value.expr)),))
        return self._result

    def condition(self, value: ResolvedExpr, text: str) -> StatementSteps:
        """A condition: `then` and `otherwise` steps, which share the read."""
        check = _division(value, text)
        choices, index_checks = self._choices(value)
        self._faults([*index_checks, check], choices)
        for choice in choices:
            holds, truth = self._adapt(choice, check.holds), self._adapt(choice, value.expr)
            self._add(self._result.then, self._read(choice), conj(choice.guard, holds, truth))
            self._add(self._result.otherwise, self._read(choice), conj(choice.guard, holds, negate(truth)))
        return self._result

    def write(self, target: VariableAccess, value: ResolvedExpr, text: str) -> StatementSteps:
        """`target = value`, over registers."""
        checks = [_division(value, text), self._overflow(value, text)]
        return self._touch([target], checks, lambda cells: cfg.Write(cells[0], value.expr), ())

    def cas(
        self, target: VariableAccess, expected: ResolvedExpr, new: ResolvedExpr, texts: tuple[str, str], register: str | None
    ) -> StatementSteps:
        """`register = cas(target, expected, new)`."""
        checks = [_division(expected, texts[0]), _division(new, texts[1]), self._overflow(new, texts[1])]
        assigns = () if register is None else ((register, VALUE),)
        return self._touch([target], checks, lambda cells: cfg.Cas(cells[0], expected.expr, new.expr), assigns)

    def rmw(self, call: ast.RmwCall, target: VariableAccess, value: ResolvedExpr, register: str | None) -> StatementSteps:
        """`register = call`: `faa` or `swap` of `target` with `value`."""
        text = printer.expression(call.value)
        checks = [_division(value, text)]
        assigns = () if register is None else ((register, VALUE),)
        if call.kind == "swap":
            checks.append(self._overflow(value, text))
            return self._touch([target], checks, lambda cells: cfg.Rmw(cells[0], value.expr), assigns)
        new = ResolvedExpr(Binary("+", VALUE, value.expr), target, call.span)
        overflow = self._overflow(new, printer.expression(ast.Binary("+", call.target, call.value)))
        return self._touch([target], checks, lambda cells: cfg.Rmw(cells[0], new.expr), assigns, overflow)

    def remote_rmw(
        self,
        accesses: list[VariableAccess],
        make: Callable[[list[cfg.Cell]], cfg.RemoteRmw],
        operands: list[tuple[ResolvedExpr, str]],
        written: tuple[ResolvedExpr, str] | None,
    ) -> StatementSteps:
        """`get target = ...`: an atomic operation on a word of another node.

        The `operands` are evaluated when it is posted; the one of them that is `written` must be in the domain.
        """
        checks = [_division(*operand) for operand in operands]
        checks += [] if written is None else [self._overflow(*written)]
        return self._touch(accesses, checks, make, ())

    def nondet(
        self, register: str, low: ResolvedExpr | None, high: ResolvedExpr | None, texts: tuple[str, str]
    ) -> StatementSteps:
        """`register = nondet(low, high)`."""
        bounds = [(bound, text) for bound, text in zip((low, high), texts, strict=True) if bound is not None]
        checks = [check for bound, text in bounds for check in (_division(bound, text), self._overflow(bound, text))]
        op = cfg.Nondet(None if low is None else low.expr, None if high is None else high.expr)
        return self._touch([], checks, lambda _: op, ((register, VALUE),))

    def request(
        self, target: VariableAccess | None, data: PayloadSource, make: Callable[[cfg.Cell | None, cfg.Payload], cfg.Op]
    ) -> StatementSteps:
        """A request that carries `data` to `target`, if it names one."""
        checks = []
        if data.value is not None:
            checks = [_division(data.value, data.text), self._overflow(data.value, data.text)]
        named = [] if target is None else [target]

        def op(cells: list[cfg.Cell]) -> cfg.Op:
            return make(cells[0] if named else None, data.payload(cells[len(named) :]))

        return self._touch([*named, *([data.access] if data.access is not None else [])], checks, op, ())

    def touch(self, accesses: list[VariableAccess], make: Callable[[list[cfg.Cell]], cfg.Op]) -> StatementSteps:
        """An operation on one cell of each access."""
        return self._touch(accesses, [], make, ())

    def chains(self, ways: Iterable[Iterable[tuple[cfg.Op, tuple[tuple[str, Expr], ...]]]]) -> StatementSteps:
        """Several steps one after the other, each with what it assigns; the `ways` are alternatives."""
        for way in ways:
            steps: list[cfg.Step] = []
            for op, assigns in way:
                self._add(steps, op, TRUE, assigns)
            self._result.chains.append(steps)
        return self._result

    def plain(self, op: cfg.Op, assigns: tuple[tuple[str, Expr], ...] = ()) -> StatementSteps:
        """One step without conditions."""
        self._add(self._result.then, op, TRUE, assigns)
        return self._result

    def _touch(
        self,
        accesses: list[VariableAccess],
        checks: list[_Check],
        op: Callable[[list[cfg.Cell]], cfg.Op],
        assigns: tuple[tuple[str, Expr], ...],
        of_value: _Check | None = None,
    ) -> StatementSteps:
        """Steps that touch one cell of each access; no guard or check but `of_value` reads a shared cell, the first."""
        all_checks = [c for access in accesses for c in _index_checks(access, TRUE)] + checks
        self._faults(all_checks, [])
        safe = conj(*(c.holds for c in checks))
        for cells, guard in self._product(accesses):
            enabled = conj(guard, safe)
            if of_value is not None and of_value.holds != TRUE:
                made, bad = op(cells), conj(enabled, negate(of_value.holds))
                assert isinstance(made, cfg.Rmw), "only these look at what they read before they write"
                self._add(self._result.faults, failing(made), bad, fault=self._fault(of_value))
                enabled = conj(enabled, of_value.holds)
            self._add(self._result.then, op(cells), enabled, assigns)
        return self._result

    def _product(self, accesses: list[VariableAccess]) -> Iterator[tuple[list[cfg.Cell], Expr]]:
        if not accesses:
            yield [], TRUE
            return
        for cell, guard in _elements(accesses[0]):
            for cells, others in self._product(accesses[1:]):
                yield [cell, *cells], conj(guard, others)

    def _choices(self, value: ResolvedExpr) -> tuple[list[_Choice], list[_Check]]:
        """The cells an expression may read, and what must hold for its index."""
        access = value.access
        if access is None:
            return [_Choice(None, TRUE)], []
        needed = meaning.needs_value(value.expr)
        choices = [_Choice(cell, conj(needed, guard), needed=needed) for cell, guard in _elements(access)]
        if needed != TRUE:
            choices.append(_Choice(None, opposite(needed), spared=True))
        return choices, _index_checks(access, needed)

    @staticmethod
    def _read(choice: _Choice) -> cfg.Op:
        return cfg.Silent() if choice.cell is None else cfg.Read(choice.cell)

    @staticmethod
    def _adapt(choice: _Choice, expr: Expr) -> Expr:
        return meaning.where_spared(expr) if choice.spared else meaning.where_needed(expr, choice.needed)

    def _overflow(self, value: ResolvedExpr, text: str) -> _Check:
        low, high = self.domain if self.domain is not None else (0, 0)
        holds = meaning.in_domain(value.expr, self.domain)
        return _Check("overflow", holds, f"the value of `{text}` leaves the domain {low}..{high}", value.span)

    def _faults(self, checks: list[_Check], choices: list[_Choice]) -> None:
        """Add a fault step for each check that may fail while the ones before it hold."""
        passed: Expr = TRUE
        for check in checks:
            if check.holds == TRUE:
                continue
            fault = self._fault(check)
            guard = conj(passed, negate(check.holds))
            if meaning.uses_value(guard):
                for choice in choices:
                    bad = conj(choice.guard, self._adapt(choice, guard))
                    self._add(self._result.faults, self._read(choice), bad, fault=fault)
            else:
                self._add(self._result.faults, cfg.Silent(), guard, fault=fault)
            passed = conj(passed, check.holds)

    def _fault(self, check: _Check) -> cfg.Fault:
        return cfg.Fault(check.kind, check.message, self._report.at(check.span), self._report.written(check.span))

    def _add(
        self,
        steps: list[cfg.Step],
        op: cfg.Op,
        guard: Expr,
        assigns: tuple[tuple[str, Expr], ...] = (),
        fault: cfg.Fault | None = None,
    ) -> None:
        if guard != FALSE:
            self._spend(self.span)
            steps.append(cfg.Step(op, guard, assigns, self.span, self.text, fault))


def _division(value: ResolvedExpr, text: str) -> _Check:
    return _Check("division by zero", meaning.divides_by_no_zero(value.expr), f"division by zero in `{text}`", value.span)


def _in_range(access: VariableAccess) -> Expr:
    assert access.index is not None
    return meaning.within_bounds(0, access.index, len(access.variable.cells) - 1)


def _index_checks(access: VariableAccess, needed: Expr) -> list[_Check]:
    """What must hold for a computed index, unless the access is not needed."""
    if access.index is None or isinstance(access.index, Const):
        return []
    spared = negate(needed)
    array = access.variable
    where = f"the index of `{array.name}`"
    size = len(array.cells)
    outside = f"{where} is outside 0..{size - 1}"
    return [
        _Check(
            "division by zero",
            disj(spared, meaning.divides_by_no_zero(access.index)),
            f"division by zero in {where}",
            access.span,
        ),
        _Check("index out of range", disj(spared, _in_range(access)), outside, access.span),
    ]


def _elements(access: VariableAccess) -> Iterator[tuple[cfg.Cell, Expr]]:
    """Yield the cells an access may touch, each with when it does."""
    cells = access.variable.cells
    if access.index is None:
        yield cells[0], TRUE
    elif isinstance(access.index, Const):
        yield cells[access.index.value], TRUE
    else:
        defined = meaning.divides_by_no_zero(access.index)
        for k, cell in enumerate(cells):
            yield cell, conj(defined, equals(access.index, Const(k)))
