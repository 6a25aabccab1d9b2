"""The engine `runs`: a function with real bodies of its callees, decided for all inputs within its bounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.contracts.contract_answers import NOTHING, SET_ASIDE, Counterexample, ProcsAnswer, Verdict
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, ErrorClass
from rdma_robust.contracts.language.function_instances import (
    TooManyStatements,
    inputs_of,
    inputs_of_one,
    instance,
    unread_inputs,
)
from rdma_robust.contracts.language.function_instances import UnboundedInputsError as NoNumbersError
from rdma_robust.contracts.language.loop_rounds import NoRoundError
from rdma_robust.contracts.runs.fact_solver import FactSolver, Model
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_code import run_code
from rdma_robust.contracts.runs.run_inputs import (
    NARROW,
    InputMaker,
    NoInputsError,
    PossibleViolation,
    Wide,
    counterexample,
    forked,
)
from rdma_robust.contracts.runs.run_judge import Judge
from rdma_robust.contracts.runs.run_machine import RunMachine
from rdma_robust.contracts.runs.run_search import RunSearch, Tally
from rdma_robust.contracts.runs.run_state import SymbolicRun
from rdma_robust.contracts.runs.run_terms import Condition, SymbolicTerm, TermTable, TooManyError
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import Decisions, ForkError, NeedsDecisionError
from rdma_robust.contracts.runs.term_code import NonBlockingError, RunCode
from rdma_robust.errors import LimitReached
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.language.message_program import Process
from rdma_robust.messages.language.message_terms import Value

ENGINE = "runs"
NO_EFFECT: Final = "no run comes behind a call: what the callee's contract says cannot be"

NEEDS_Z3: Final = "needs z3 (the extra `smt`), or bounds: "

Starts = Callable[[Contract, Sequence[int]], Iterable[tuple[tuple[Snapshot, ...], Path]]]
"""The inputs of a function in some processes, each with the path of what is assumed of them."""


class FoundError(Exception):
    """A violation was found, which is enough."""


def runs(program: ContractProgram, function: str, procs: int, limits: Limits = NO_LIMITS) -> ProcsAnswer:
    """Return what holds of `function` for `procs` processes, with real bodies of what it calls.

    Raises KeyError if the program has no such function, or it has no contract.
    """
    return RunsCheck(program, function, procs, limits).answer()


@dataclass(slots=True)
class RunsCheck:
    """One check. With `all_classes` it does not end at the first violation; `examples` has one for each class."""

    program: ContractProgram
    function: str
    procs: int
    limits: Limits = NO_LIMITS
    use_z3: bool = True
    all_classes: bool = False
    wide: Wide = NARROW
    in_order: bool = False
    examples: dict[ErrorClass, Counterexample] = field(default_factory=dict)
    terms: TermTable = field(default_factory=TermTable)
    unsure: str = ""
    solver: FactSolver = field(init=False)
    on: Decisions = field(init=False)
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        """Make what asks the solver."""
        self.solver = FactSolver(self.terms, self.limits, use_z3=self.use_z3)
        self.on = Decisions(self.terms, self.solver)

    def answer(self) -> ProcsAnswer:
        """Return what was found out. What would take z3, and there is none, is decided for one input after the other."""
        started = time.monotonic()
        reason = self._followed(self.starts)
        if reason and self.solver.missing and (self.all_classes or not self.examples):
            self.tally, self.unsure = Tally(), ""
            return self.answer_by(self.numbered_starts, started)
        return self._answered(reason, started)

    def answer_by(self, starts: Starts, started: float | None = None) -> ProcsAnswer:
        """Return what is found out from these inputs alone, with the time since `started`."""
        started = time.monotonic() if started is None else started
        return self._answered(self._followed(starts), started)

    def _answered(self, reason: str, started: float) -> ProcsAnswer:
        example = next(iter(self.examples.values()), None)
        verdict: Verdict = "VIOLATED" if example is not None else "UNKNOWN" if reason else "VERIFIED"
        return ProcsAnswer(
            self.procs,
            verdict,
            "inlined",
            ENGINE,
            example,
            reason="" if example is not None else reason or self.nothing(),
            runs=self.tally.runs,
            states=self.tally.states,
            solver_calls=self.solver.calls,
            seconds=time.monotonic() - started,
        )

    def nothing(self) -> str:
        """Return that there was nothing to look at, if so; that no round ever begins is as good."""
        if self.tally.starts:
            return "" if self.tally.ends else SET_ASIDE if self.tally.runs else NO_EFFECT
        own = self.program.contract(self.function)
        return "" if own is not None and own.loop is not None else NOTHING

    def _followed(self, starts: Starts) -> str:
        """Follow all runs, or until something is violated; return why that is not all, or ''."""
        try:
            for _ in self.followed(starts):
                if self.examples and not self.all_classes:
                    break
        except FoundError:
            pass
        except NonBlockingError as why:
            return f"non-blocking: {why}"
        except (NoInputsError, TooManyError, TooManyStatements, NoRoundError) as limit:
            return str(limit)
        except LimitReached as limit:
            return str(limit)
        return self.tally.reason or self.unsure

    def followed(self, starts: Starts) -> Iterator[SymbolicRun]:
        """Yield all runs when nothing can happen in them any more. Raises FoundError, unless all classes are wanted."""
        contracts = self.contracts()
        own = contracts[self.function]
        made = instance(self.program, self.function, self.procs)
        collective = frozenset(
            name for name, each in contracts.items() if each.kind == "collective" or name == self.function
        )
        codes = [self.code(each, contracts) for each in made.program.processes]
        everybody = tuple(range(self.procs))
        for looked_at in [everybody] if own.kind == "collective" else [(each,) for each in everybody]:
            judge = Judge(own, contracts, self.procs, self.on, self.told, looked_at)
            machine = self.machine(codes, collective, judge)
            search = RunSearch(machine, self.limits, self.tally, self.limits.poll("following runs"), self.in_order)
            for snapshots, path in starts(own, looked_at):
                self.on.path = path
                self.tally.starts += 1
                for run in search.explore(search.start(snapshots, looked_at)):
                    self.on.path = run.path
                    judge.ended(run)
                    self.ended(run)
                    yield run

    # what differs where only contracts of callees count

    def contracts(self) -> dict[str, Contract]:
        """Return the contracts of all calls that are events, by their names."""
        return {each.name: each for each in (*self.program.library, *self.program.contracts)}

    def code(self, process: Process, contracts: Mapping[str, Contract]) -> RunCode:
        """Return the code of a process; `contracts` are all there are."""
        return run_code(process, contracts, rendezvous=self.program.buffer == "zero")

    def machine(self, codes: Sequence[RunCode], collective: frozenset[str], judge: Judge) -> RunMachine:
        """Return what executes the processes."""
        return RunMachine(codes, self.program.globals, collective, self.on, judge)

    def ended(self, run: SymbolicRun) -> None:
        """Look at a run in which nothing can happen any more, besides what the judge does."""

    # inputs

    def numbered_starts(self, own: Contract, looked_at: Sequence[int]) -> Iterator[tuple[tuple[Snapshot, ...], Path]]:
        """Yield the inputs within bounds that meet `requires`, one after the other. Raises NoInputsError."""
        unread = unread_inputs(self.program, own, instance(self.program, self.function, self.procs))
        poll, globals_ = self.limits.poll("looking at inputs"), self.program.globals
        found = (
            inputs_of(own, globals_, unread, self.procs, poll)
            if own.kind == "collective"
            else inputs_of_one(own, globals_, unread, (looked_at[0], self.procs), poll)
        )
        try:
            for inputs in found:
                yield tuple(_numbered(each, own, globals_) for each in inputs), Path()
        except NoNumbersError as no:
            raise NoInputsError(f"{NEEDS_Z3}{no}") from None

    def starts(self, own: Contract, looked_at: Sequence[int]) -> list[tuple[tuple[Snapshot, ...], Path]]:
        """Return the inputs that meet `requires`, with the facts on each path."""
        maker = InputMaker(own, self.program.globals, self.procs, self.on, self.wide)
        start = maker.make(looked_at)
        while self._equate(own, start.snapshots, maker, looked_at):
            start = maker.make(looked_at)
        if start.empty:
            return []
        return [(start.snapshots, path) for path in self._required(own, start.snapshots, looked_at)]

    def _equate(self, own: Contract, snapshots: tuple[Snapshot, ...], maker: InputMaker, looked_at: Sequence[int]) -> bool:
        """Tell the maker which inputs `requires` says are the same; return whether there are any."""
        reader, found = SpecEvaluator(self.on, snapshots), False
        for clause in own.clauses:
            for process in looked_at if clause.kind == "requires" else ():
                self.on.trying += 1
                try:
                    condition = reader.holds(clause.condition, process, clause.assumes)
                except (NeedsDecisionError, TooManyError):
                    continue
                finally:
                    self.on.trying -= 1
                for one, other in _equations(condition):
                    maker.equate(one, other)
                    found = True
        return found

    def _required(self, own: Contract, snapshots: tuple[Snapshot, ...], looked_at: Sequence[int]) -> list[Path]:
        """Return the possible paths on which all that is required is true."""
        clauses = [(each, process) for each in own.clauses if each.kind == "requires" for process in looked_at]
        todo: list[tuple[Path, int]] = [(Path(), 0)]
        found = []
        while todo:
            path, at = todo.pop()
            self.on.path = path
            try:
                possible = True
                while possible and at < len(clauses):
                    clause, process = clauses[at]
                    condition = SpecEvaluator(self.on, snapshots).holds(clause.condition, process, clause.assumes)
                    possible = path.assume(condition, self.terms)
                    if own.loop is not None and possible:
                        # Ranges in later invariants have no end where earlier ones contradict one another.
                        possible = self.solver.possible(path.facts, path.model)[0] is not False
                    at += 1
            except ForkError as fork:
                todo += [(each, at) for each in forked(self.on, path, fork)]
                continue
            if possible:
                answer, path.model = self.solver.possible(path.facts, None)
                if answer is not False:
                    found.append(path)
        return found[::-1]

    # findings

    def told(self, run: SymbolicRun, path: Path, finding: PossibleViolation) -> None:
        """Take what may be a violation: if there are inputs for it, it is one."""
        if finding.error in self.examples:
            return
        possible, model = self._possible(path, finding.condition)
        if possible is False:
            return
        if model is None:
            self.unsure = self.unsure or (
                "needs z3: whether a clause holds is not decided without it" if self.solver.missing else "z3 does not know"
            )
            return
        self.examples[finding.error] = counterexample(run, path, finding, model)
        if not self.all_classes:
            raise FoundError

    def is_possible(self, path: Path, condition: Condition) -> bool:
        """Return whether a condition may be true on a path."""
        return condition is not False and self._possible(path, condition)[0] is not False

    def _possible(self, path: Path, condition: Condition) -> tuple[bool | None, Model | None]:
        verdict = path.verdict(condition, self.terms)
        if verdict is False:
            return False, None
        if verdict is True:
            return (True, path.model) if path.model is not None else self.solver.possible(path.facts, None)
        assert isinstance(condition, SymbolicTerm)
        return self.solver.possible((*path.facts, condition), path.model)


def _numbered(inputs: Mapping[str, Value], own: Contract, global_names: Sequence[str]) -> Snapshot:
    if not inputs:
        return Snapshot()
    return Snapshot({name: inputs[name] for name in own.parameters}, {name: inputs[name] for name in global_names})


def _equations(condition: Condition) -> list[tuple[SymbolicTerm, SymbolicTerm]]:
    """Return pairs of inputs that are equal where a condition is true."""
    if isinstance(condition, bool):
        return []
    if condition.op == "and":
        return [pair for each in condition.args for pair in _equations(each)]
    if condition.op != "zero":
        return []
    items = condition.args[0].poly
    if len(items) != 2 or {items[0][1], items[1][1]} != {1, -1}:
        return []
    if any(len(monomial) != 1 or monomial[0].op != "input" for monomial, _ in items):
        return []
    return [(items[0][0][0], items[1][0][0])]
