"""The proof that functions meet their contracts for every number of processes, or the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Final

from rdma_robust.contracts.any_procs.any_calls import Calls, Proved, least, whole_clause
from rdma_robust.contracts.any_procs.any_events import NPROCS, ParametricRun
from rdma_robust.contracts.any_procs.any_execution import ParametricFunction
from rdma_robust.contracts.any_procs.any_matching import MatchedStatements, Matching, P, Prover, ReceivedValues, happens
from rdma_robust.contracts.any_procs.any_paths import Order, promised, well_founded
from rdma_robust.contracts.any_procs.any_specs import (
    LEVELS,
    Level,
    Moment,
    MomentReader,
    ProofGoal,
    admitted_input,
    is_process,
    unchanged_goals,
)
from rdma_robust.contracts.any_procs.any_values import Bool, Int, TermValue, UnrecognisedError
from rdma_robust.contracts.contract_answers import EveryProcsAnswer, ProvedInputs
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import TooManyStatements, unwritten
from rdma_robust.errors import Span
from rdma_robust.guarded_z3 import z3
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import InlinedCall
from rdma_robust.messages.language.message_terms import LONGEST, Zeros


class Proof:
    """Tries to prove one function at one level of inputs. Raises UnrecognisedError with the reason if it cannot."""

    def __init__(self, program: ContractProgram, contract: Contract, level: Level, limits: Limits, proved: Proved) -> None:
        self.proved = proved
        self.program = program
        self.contract = contract
        self.body = _body(program, contract.name)
        self.most = LONGEST if makes_arrays(self.body) else None
        self.bare = self._function()
        self.full = self._function()
        self.moment = Moment(self._parameters, self._globals, self._now, self._result)
        self.level = level
        self.prover = Prover(list(self._required()), limits)
        if self.most is not None:
            self.prover.facts.append(self.most >= NPROCS)

    def _function(self) -> ParametricFunction:
        contracts = {each.name: each for each in (*self.program.library, *self.program.contracts)}
        return ParametricFunction(self.body, self.program.globals, contracts)

    def _required(self) -> Iterator[Bool]:
        yield NPROCS >= 1
        reader = MomentReader(self.moment.entry())
        for clause in self.contract.clauses:
            if clause.kind == "requires":
                yield self._of_all(partial(reader.assumed, whole_clause(clause)))
        for name in (*self.contract.parameters, *self.program.globals):
            yield self._of_all(partial(self._inside, name))

    def _inside(self, name: str, process: Int) -> Bool:
        value = {**self._globals(process), **self._parameters(process)}[name]
        return admitted_input(self.contract, name, value, process, self.level)

    def _of_all(self, said: Callable[[Int], Bool]) -> Bool:
        """Return what is said of all that call the function: of one process if it is local, whatever others could do."""
        if self.contract.kind == "local":
            return z3.Implies(is_process(P), said(P))
        q = z3.FreshInt("q")
        return z3.ForAll([q], z3.Implies(is_process(q), said(q)))

    # what processes have

    def _parameters(self, process: Int) -> dict[str, TermValue]:
        return self.full.entry(process)[0]

    def _globals(self, process: Int) -> dict[str, TermValue]:
        return self.full.entry(process)[1]

    def _now(self, process: Int) -> dict[str, TermValue]:
        return self.run(process).registers

    def _result(self, process: Int) -> TermValue | None:
        name = self.body.call.result
        return self.run(process).registers.get(name) if name else None

    def run(self, process: Int) -> ParametricRun:
        return self.full.run(process, {})

    # the steps

    def prove(self) -> None:
        """Prove everything. Raises UnrecognisedError, and LimitReached."""
        matching = Matching(self.bare, self.prover)
        pairs = self._pairs(matching)
        self.full.received = ReceivedValues(self.full, pairs)
        calls = Calls(self.full, self.prover, self.proved, self.program.globals)
        self.most = least(self.most, calls.establish(pairs))
        self._faults()
        for clause in self.contract.clauses:
            if clause.kind == "ensures":
                what = f"line {clause.span.line}: {self._text(clause.span)}"
                self._show(MomentReader(self.moment).goals(whole_clause(clause), P), what)
        if self.contract.frames is not None:
            for name in self.program.globals:
                goals = unchanged_goals(name, self.contract.frames, self.moment, P)
                self._show(goals, f"assigns: {name} does not change where it must not")
        order = Order(matching, pairs, calls)
        for path in self.contract.paths:
            if path.kind != "quiet from":
                what = f"line {path.span.line}: {self._text(path.span)}"
                self._show(promised(order, path, self.moment), what)

    def _text(self, span: Span) -> str:
        """Return what stands in the file at a place, on one line."""
        source = self.program.source if span.file in ("", self.program.file) else ""
        return " ".join(source[span.start : span.end].split())

    def _pairs(self, matching: Matching) -> tuple[MatchedStatements, ...]:
        """Return the pairs of sends and receives, in order and without a circle."""
        why = "sends and receives are not one to one"
        for pairs in matching.all_pairs():
            if not matching.in_order(pairs):
                why = "a receive may take a message that is another's"
            elif not well_founded(matching, pairs):
                why = "no order is found in which all sends and receives can happen"
            else:
                self._swaps(matching)
                return pairs
        raise UnrecognisedError(why)

    def _swaps(self, matching: Matching) -> None:
        """Note where sums may differ, and with whom a process may have changed places."""
        recvs = matching.recvs

        def partner(process: Int) -> Int:
            found = process
            for recv in recvs:
                event = self.bare.event(recv.number, process, {})
                if event is not None and not event.loops:
                    found = z3.If(happens(event, process), event.peer, found)
            return found

        self.prover.swaps = [partner] if any(not each.loops for each in recvs) else []
        self.prover.points = [P]

    def _faults(self) -> None:
        for need in self.full.run(P, {}, strict=True).needs:
            if not self.prover.proves([is_process(P), need.guard], need.condition):
                raise UnrecognisedError(f"line {need.span.line}: not proved that there is no fault or false assertion")

    def _show(self, goals: Iterator[ProofGoal] | list[ProofGoal], what: str) -> None:
        """Prove goals for process P."""
        for goal in goals:
            if not self.prover.proves([is_process(P), *goal.given], goal.claim):
                raise UnrecognisedError(f"not proved: {what}")


def _body(program: ContractProgram, name: str) -> InlinedCall:
    try:
        return unwritten(program, name)[0]
    except TooManyStatements as too_many:
        raise UnrecognisedError(str(too_many)) from too_many


def makes_arrays(part: object) -> bool:
    """Whether statements or terms make arrays, which have no more than LONGEST elements."""
    if isinstance(part, Zeros):
        return True
    if isinstance(part, tuple):
        return any(map(makes_arrays, part))
    return is_dataclass(part) and any(makes_arrays(getattr(part, each.name)) for each in fields(part))


# What is proved of functions for every number of processes.

_INPUTS: Final[dict[Level, ProvedInputs]] = {"any": "all", "kinds": "kinds", "bounds": "bounds"}


class EveryProcs:
    """Proves functions of one program; what is found out of callees is kept."""

    def __init__(self, program: ContractProgram, limits: Limits) -> None:
        self._program = program
        self._limits = limits
        self._answers: dict[str, EveryProcsAnswer] = {}

    def answer(self, function: str) -> EveryProcsAnswer:
        """Return whether a function is proved to meet its contract for every n, at the most inputs for which that is found.

        Raises KeyError for a function without a contract, and LimitReached.
        """
        if function not in self._answers:
            self._answers[function] = self._tried(function)
        return self._answers[function]

    def _tried(self, function: str) -> EveryProcsAnswer:
        contract = self._program.contract(function)
        if contract is None:
            raise KeyError(function)
        if self._program.buffer != "infinite":
            return EveryProcsAnswer("UNKNOWN", reason="for every n only with --buffer infinite")
        if _has_loops(self._program, function):
            reason = "loops with contracts are proved for single numbers of processes only"
            return EveryProcsAnswer("UNKNOWN", reason=reason)
        started, questions, reason = time.monotonic(), 0, ""
        for level in LEVELS:
            proof = None
            try:
                proof = Proof(self._program, contract, level, self._limits, self._proved)
                proof.prove()
            except UnrecognisedError as why:
                reason = str(why)
            else:
                reason = ""
            questions += 0 if proof is None else proof.prover.questions
            if proof is not None and not reason:
                return EveryProcsAnswer("VERIFIED", _INPUTS[level], proof.most, "", questions, _since(started))
        return EveryProcsAnswer("UNKNOWN", reason=reason, solver_calls=questions, seconds=_since(started))

    def _proved(self, function: str) -> tuple[Level, int | None]:
        found = self.answer(function)
        if found.inputs is None:
            raise UnrecognisedError(f"{function}: {found.reason}")
        return next(level for level, inputs in _INPUTS.items() if inputs == found.inputs), found.most


def _has_loops(program: ContractProgram, function: str) -> bool:
    """Whether a function is a loop with a contract, or has one, or calls one that has."""
    seen: set[str] = set()
    todo = [function]
    while todo:
        name = todo.pop()
        contract = program.contract(name)
        if name in seen or contract is None:
            continue
        if contract.loop is not None:
            return True
        seen.add(name)
        todo += contract.calls
    return False


def _since(started: float) -> float:
    return round(time.monotonic() - started, 6)
