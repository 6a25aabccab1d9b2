"""Contracts of loops, of collective functions or local ones: the calls that their heads are, and what rounds need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.bounds_reader import BoundsReader, typed_clause
from rdma_robust.contracts.language.contract_calls import changed_globals, contracted_calls, looked_at_globals
from rdma_robust.contracts.language.contract_program import (
    AssignedCells,
    AssignsClause,
    CollectiveLoop,
    Contract,
    PathClause,
    StateClause,
)
from rdma_robust.contracts.language.contract_reader import PathReader
from rdma_robust.contracts.language.loop_rounds import agreed_condition
from rdma_robust.contracts.language.spec_reader import Owner, SpecContext, SpecReader
from rdma_robust.contracts.language.spec_terms import known_value, spec_conjuncts, specs_in
from rdma_robust.diagnose import Reporter, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as written
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.collective_loops import (
    MORE,
    Looping,
    contract_of_loop,
    entry_parameter,
    loop_names,
    loops_with_contracts,
    remembered_names,
)
from rdma_robust.messages.language.message_parts import all_lines, assigned_names
from rdma_robust.messages.language.message_world import GlobalScope

_INVARIANT = SpecContext("`invariant`")
_DECREASES = SpecContext("`decreases`")
_FRAME = SpecContext("`assigns` of a loop", others=False, why="the same may change in every round, whatever processes have")
_FOREIGN = {
    "requires": "what is true at each head of the loop is an `invariant`",
    "ensures": "what is true at each head of the loop, also the last, is an `invariant`",
    "assumes": "write `invariant CONDITION ==> ...`",
}


def read_loops(world: GlobalScope, report: Reporter, function: tree.FunctionItem, own: Contract) -> tuple[Contract, ...]:
    """Return the contracts of the loops in a function whose contract is `own`. Errors go to `report`."""
    found = []
    for line, known in _loops(function):
        text = contract_of_loop(line)
        if text is not None:
            found.append(
                _LoopReader(
                    SpecReader(world, report, _owner(world, function, text, known, own.kind)), function, own, line
                ).contract()
            )
    return tuple(found)


def _as_in_programs(condition: spec.Spec) -> spec.Spec:
    """Return an expression of a program, where to compare arrays is a fault, as one of contracts, where it is none."""
    if not isinstance(condition, spec.Apply):
        return condition
    operands = tuple(map(_as_in_programs, condition.operands))
    if condition.op in ("==", "!="):
        operands = tuple(spec.Apply("+", (each, spec.SpecNumber(0))) for each in operands)
    return spec.Apply(condition.op, operands)


def _head(line: Looping) -> Span:
    """Return where the words before the contract of a loop stand."""
    first, last = line.span, tree.operand(line.high if isinstance(line, ast.For) else line.condition).span
    return Span(first.line, first.column, last.end_line, last.end_column, first.start, last.end, first.file)


def _owner(
    world: GlobalScope, function: tree.FunctionItem, text: written.ContractText, known: frozenset[str], kind: str
) -> Owner:
    name = "" if text.name is None else text.name.text
    return Owner(name, known, False, kind == "local", frozenset(remembered_names(function, world)))


def _loops(function: tree.FunctionItem) -> list[tuple[Looping, frozenset[str]]]:
    """Return the loops of a function with the registers and parameters that are known at each."""
    found: list[tuple[Looping, frozenset[str]]] = []

    def block(lines: ast.Block, known: frozenset[str]) -> None:
        for line in tree.lines(lines):
            match line:
                case tree.RegisterLine(declared):
                    known |= {each.name.text for each in declared}
                case ast.While(body=body):
                    found.append((line, known))
                    block(body, known)
                case ast.For(counter, body=body):
                    found.append((line, known | {counter.text}))
                    block(body, known | {counter.text})
                case ast.Loop(body):
                    block(body, known)
                case ast.If(arms, otherwise):
                    for each in (*(arm.block for arm in arms), *(() if otherwise is None else (otherwise,))):
                        block(each, known)
                case ast.Choose(branches):
                    for each in branches:
                        block(each, known)
                case _:
                    pass

    block(function.body, frozenset(each.text for each in function.parameters))
    return found


def misplaced_loops(item: tree.Proc | tree.FunctionItem) -> Iterator[Looping]:
    """Yield the loops with contracts in what has no contract."""
    contract = item.contract if isinstance(item, tree.FunctionItem) else None
    if contract is None:
        yield from (line for line in all_lines(item.body) if isinstance(line, Looping) and line.contract is not None)


@dataclass(slots=True)
class _LoopClauses:
    """The clauses that were read."""

    clauses: list[StateClause] = field(default_factory=list)
    cells: list[AssignedCells] | None = None
    waits: list[PathClause] = field(default_factory=list)
    paths: list[PathClause] = field(default_factory=list)
    decreases: spec.Spec | None = None


class _LoopReader:
    """Reads the contract of one loop."""

    def __init__(
        self,
        specs: SpecReader,
        function: tree.FunctionItem,
        own: Contract,
        line: Looping,
    ) -> None:
        self.specs, self.world, self.report, self.line = specs, specs.world, specs.report, line
        self.function, self.own = function, own
        text = contract_of_loop(line)
        assert text is not None
        assert text.name is not None
        self.text, self.name = text, text.name
        self.locals = tuple(name for name in loop_names(line) if name in specs.owner.parameters)
        changed = assigned_names(line.body) | ({line.counter.text} if isinstance(line, ast.For) else set())
        self.changes = tuple(name for name in self.locals if name in changed)
        self.paths = PathReader(self.specs)
        self.bounds = BoundsReader(self.specs, "a register or parameter at the head of the loop")
        self.found = _LoopClauses()
        self.remembered = remembered_names(self.function, self.world)

    def contract(self) -> Contract:
        """Return the contract of a head, as of a function that does nothing."""
        for part in self.text.parts:
            self._part(part)
        self._check_body()
        stored = assigned_names(self.function.body)
        for each in self.own.bounds:  # an array to which the function stores nothing is at each head what it was
            if each.lengths and each.name in self.locals and each.name not in stored:
                self.bounds.found.setdefault(each.name, each)
        head = self.report.at(_head(self.line))
        agreed = agreed_condition(self.own.kind, spec.Parameter(MORE))
        said = f"processes do not agree whether {self.name.text} goes on"
        clauses = [StateClause("requires", agreed, None, head, said), *self.found.clauses]
        own = {each.name: each for each in self.own.bounds}
        return Contract(
            self.name.text,
            self.own.kind,
            (MORE, *map(entry_parameter, self.remembered), *self.locals),
            False,
            tuple(clauses),
            (AssignsClause(()),),
            (),
            tuple(self.bounds.found.values()),
            (),
            self.report.at(self.name.span),
            CollectiveLoop(
                self.function.name.text,
                self.locals,
                self.changes,
                self.remembered,
                *self._guard(),
                typed=self._typed(head),
                typed_before=tuple(typed_clause(entry_parameter(each), own.get(each), head) for each in self.remembered),
                bounds_before=tuple(
                    replace(own[each], name=entry_parameter(each)) for each in self.remembered if each in own
                ),
                kept=tuple(self._kept()),
                globals=self._globals(),
                paths=tuple(self.found.paths),
                waits=tuple(self.found.waits),
                decreases=self.found.decreases,
                calls=(*contracted_calls(self.line.body, self.world), *self._inner()),
            ),
        )

    def _guard(self) -> tuple[spec.Spec, str, tuple[spec.Spec, spec.Spec] | None]:
        line = self.line
        if isinstance(line, ast.While):
            return _as_in_programs(self.specs.spec(line.condition, _INVARIANT)), "", None
        counter = spec.Parameter(line.counter.text)
        low, high = (_as_in_programs(self.specs.spec(each, _INVARIANT)) for each in (line.low, line.high))
        return spec.Apply("<=", (counter, high)), line.counter.text, (low, high)

    def _typed(self, head: Span) -> tuple[StateClause, ...]:
        """Return that all that rounds look at has the values of `bounds`, or is a number."""
        names = [(name, spec.Parameter(name)) for name in self.locals]
        bounds = self.bounds.found
        used = looked_at_globals(self.line, self.world) | (bounds.keys() & self.world.globals.keys())
        clauses = [typed_clause(name, bounds.get(name), head) for name, _ in names]
        return (*clauses, *(typed_clause(name, bounds.get(name), head, is_global=True) for name in sorted(used)))

    def _kept(self) -> Iterator[StateClause]:
        """Yield what the function requires of parameters that the loop names and nothing is stored to: it stays true."""
        same = set(self.locals) - assigned_names(self.function.body)
        for clause in self.own.clauses:
            parts = spec_conjuncts(clause.condition) if clause.kind == "requires" and clause.assumes is None else []
            for part in parts:
                looked_at = [each for each in specs_in(part) if isinstance(each, spec.Parameter | spec.Global)]
                if all(isinstance(each, spec.Parameter) and each.name in same for each in looked_at):
                    yield replace(clause, condition=part)

    def _globals(self) -> tuple[AssignedCells, ...] | None:
        if self.found.cells is not None:
            return tuple(self.found.cells)
        changed = changed_globals(self.line.body, self.world)
        return None if changed is None else tuple(AssignedCells(name) for name in sorted(changed))

    # clauses

    def _part(self, part: written.Part) -> None:
        match part:
            case written.ConditionClause("invariant"):
                self._invariant(part)
            case written.ConditionClause("decreases"):
                if self.found.decreases is not None:
                    self.report.error("RR959", part.span, "there is a `decreases` already", hint="take one of them out")
                self.found.decreases = self.specs.spec(part.value, _DECREASES)
            case written.ConditionClause(word):
                self._foreign(part.span, f"`{word}`", _FOREIGN[word])
            case written.BehaviorHead() | written.Behaviors():
                self._foreign(part.span, "`behavior`", _FOREIGN["assumes"])
            case written.AssignsLine(cells):
                self.found.cells = [*(self.found.cells or ()), *map(self._cells, cells)]
            case written.BoundsLine():
                self.bounds.read(part, {*self.locals, *self.world.globals, *self.world.poisoned})
            case written.WaitsForClause() | written.Quiet() if self.specs.owner.is_local:
                said = f"a path clause in the contract of {quote(self.name.text)}, which one process goes through on its own"
                self.report.error("RR954", part.span, said, hint="only loops of collective functions have them")
            case written.WaitsForClause():
                self.found.waits.append(self._at(self.paths.waits_for(part, None)))
            case written.Quiet():
                clause = self._at(self.paths.quiet(part, None))
                self._check_quiet(part, clause)
                self.found.paths.append(clause)
            case ast.BrokenStatement():
                pass

    def _at(self, clause: PathClause) -> PathClause:
        return replace(clause, span=self.report.at(clause.span))

    def _foreign(self, span: Span, what: str, hint: str) -> None:
        self.report.error("RR959", span, f"{what} does not stand in the contract of a loop", hint=hint)

    def _invariant(self, part: written.ConditionClause) -> None:
        condition = self.specs.spec(part.value, _INVARIANT)
        if known_value(condition) == 0:
            self.report.warn("RR753", part.span, "this is never true", hint="then no process comes to the head of the loop")
        self.found.clauses.append(StateClause("requires", condition, None, self.report.at(part.span)))

    def _cells(self, cells: written.CellsOf) -> AssignedCells:
        text = cells.name.text
        if text not in self.world.globals and text not in self.world.poisoned:
            said = f"there is no register {quote(text)} declared outside"
            hint = meant_at(cells.name.span, text, self.world.globals) or "registers of the function need no `assigns` here"
            self.report.error("RR952", cells.name.span, said, hint=hint)
        low = None if cells.low is None else self.specs.spec(cells.low, _FRAME)
        high = low if cells.high is None else self.specs.spec(cells.high, _FRAME)
        self._check_constant([each for each in (low, high) if each is not None], cells.span)
        return AssignedCells(text, low, high)

    def _check_quiet(self, part: written.Quiet, clause: PathClause) -> None:
        until = () if clause.until is None else (clause.until.low, clause.until.high)
        parts = (clause.who.low, clause.who.high, clause.tag, clause.condition, *until)
        self._check_constant([each for each in parts if each is not None], part.span)

    def _check_constant(self, parts: list[spec.Spec], span: Span) -> None:
        """Report what a clause looks at that changes from round to round."""
        for each in (inner for part in parts for inner in specs_in(part)):
            if isinstance(each, spec.Global) or (isinstance(each, spec.Parameter) and each.name in self.changes):
                said = f"{quote(each.name)} may change from round to round, and this is for all of them"
                self.report.error("RR959", span, said, hint="name numbers, `PID`, and what the loop does not change")
                return

    def _inner(self) -> Iterator[str]:
        """Yield the names of the loops with contracts in this one."""
        for each in map(contract_of_loop, loops_with_contracts(self.line.body)):
            if each is not None and each.name is not None:
                yield each.name.text

    # the body

    def _check_body(self) -> None:
        line = self.line
        for inner in all_lines(line.body):
            if isinstance(inner, tree.ReturnLine | ast.Halt):
                hint = "let the condition of the loop become false"
                word = "return" if isinstance(inner, tree.ReturnLine) else "halt"
                said = f"`{word}` leaves {quote(self.name.text)} from inside: all processes go through its rounds together"
                self.report.error("RR960", inner.span, said, hint=hint)
        if isinstance(line, ast.For):
            ends = self.specs.spec(line.low, _INVARIANT), self.specs.spec(line.high, _INVARIANT)
            changed = changed_globals(line.body, self.world)
            for each in (inner for end in ends for inner in specs_in(end)):
                name = each.name if isinstance(each, spec.Parameter | spec.Global) else ""
                if name and (name in self.changes or changed is None or name in changed):
                    said = f"{quote(name)}, by which the last round is known, may change in the loop"
                    hint = "give it to a register before the loop, and name that one"
                    self.report.error("RR960", _head(line), said, hint=hint)
                    return
