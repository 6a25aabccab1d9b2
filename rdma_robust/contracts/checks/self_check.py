"""The comparison of `--self-check`: an answer about a function against ways to it that take fewer steps on trust.

Two ways, after every violation was replayed by an interpreter of its own in any case:

- *numbers*: real bodies, from one input within the bounds after the other. No term, no solver and no contract of a callee
  has a part in it. Its verdict must be the same.
- *interleavings*: the processes as a message program, from one input after the other, by the search of all its states.
  Where the function is verified there must be no fault, no deadlock, and no message or request that is left over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from rdma_robust.contracts.contract_answers import ProcsAnswer
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import (
    TooManyStatements,
    UnboundedInputsError,
    inputs_of,
    instance,
    unread_inputs,
)
from rdma_robust.contracts.language.loop_rounds import NoRoundError, round_program
from rdma_robust.contracts.runs.runs_engine import NEEDS_Z3, RunsCheck
from rdma_robust.errors import InternalError, LimitReached
from rdma_robust.expr import Const, Name
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Assign, InlinedCall, MessageProgram, Place, Process, Statement
from rdma_robust.messages.language.message_terms import Term, Value, Zeros
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions

CHECKING_S: Final = 5.0
"""Seconds of each way for one function and number of processes: both may take far longer than the answer."""

_VERDICTS: Final = MessageQuestions(pairs=False)


def compare_function(
    program: ContractProgram, contract: Contract, answers: Sequence[ProcsAnswer], limits: Limits
) -> list[str]:
    """Compare the answers about one function; return what was left open and why.

    Raises InternalError if a way contradicts an answer.
    """
    opened: dict[tuple[str, str], list[str]] = {}
    if contract.loop is not None:
        program = round_program(program, contract)
    for at, answer in enumerate(answers):
        for name, way in (("numbers", _numbers), ("interleavings", _interleavings)):
            part = limits.share(1 / (2 * (len(answers) - at))).within(CHECKING_S)
            wrong, why = ("", "") if answer.verdict == "UNKNOWN" else way(program, contract.name, answer, part)
            if wrong:
                said = f"{contract.name} for {answer.procs} processes is {answer.verdict} by {answer.engine}"
                raise InternalError(f"{said}, which contradicts the {name}: {wrong}")
            if why:
                opened.setdefault((name, why), []).append(str(answer.procs))
    return [f"self-check: the {name} leave open n = {', '.join(procs)} ({why})" for (name, why), procs in opened.items()]


def _numbers(program: ContractProgram, function: str, answer: ProcsAnswer, limits: Limits) -> tuple[str, str]:
    check = RunsCheck(program, function, answer.procs, limits, use_z3=False, in_order=True)
    found = check.answer_by(check.numbered_starts)
    if found.verdict == "UNKNOWN":
        return "", found.reason.removeprefix(NEEDS_Z3)
    return ("" if found.verdict == answer.verdict else f"{found.verdict} {found.reason}".strip()), ""


def _interleavings(program: ContractProgram, function: str, answer: ProcsAnswer, limits: Limits) -> tuple[str, str]:
    if answer.verdict != "VERIFIED":
        return "", ""
    try:
        for closed in closed_programs(program, function, answer.procs, limits):
            found = by_states(closed, program.buffer, _VERDICTS, limits)
            wrong = _wrong(found)
            if wrong or found.reason:
                return wrong, found.reason
    except (UnboundedInputsError, TooManyStatements, NoRoundError) as why:
        return "", str(why)
    except LimitReached as limit:
        return "", f"reached {limit.said}"
    return "", ""


def _wrong(found: BufferAnswer) -> str:
    """Return what a function that is verified does not do."""
    if found.violations:
        return found.violations[0].text or f"a {found.violations[0].kind}"
    if found.deadlocked == "yes":
        return "a deadlock"
    return "an operation that nothing matches" if found.leaking == "yes" else ""


def closed_programs(program: ContractProgram, function: str, procs: int, limits: Limits) -> Iterator[MessageProgram]:
    """Yield the processes of a collective function as a message program for each input within the bounds.

    A local function has no interleavings, so nothing of it.

    Raises NoInputsError, TooManyStatements, NoRoundError, LimitReached.
    """
    contract = program.contract(function)
    assert contract is not None
    if contract.kind != "collective":
        return
    made = instance(program, function, procs)
    unread = unread_inputs(program, contract, made)
    for inputs in inputs_of(contract, program.globals, unread, procs, limits.poll("looking at inputs")):
        processes = (_given(*each) for each in zip(made.program.processes, inputs, strict=True))
        yield replace(made.program, processes=tuple(processes))


def _given(process: Process, inputs: Mapping[str, Value]) -> Process:
    """Return a process that first stores its inputs in the registers of its function's parameters, and in globals."""
    (function,) = process.body
    assert isinstance(function, InlinedCall)
    parameters = {name: term.name for name, term in function.call.arguments if isinstance(term, Name)}
    stores = [each for name, value in inputs.items() for each in _stores(Place(parameters.get(name, name)), value)]
    registers = dict.fromkeys((*process.registers, *(each.target.name for each in stores)))
    body: tuple[Statement, ...] = (*stores, *process.body)
    return replace(process, body=body, registers=tuple(registers))


def _stores(place: Place, value: Value) -> list[Assign]:
    """Return what stores a value: of an array zeros first, then its elements."""
    if isinstance(value, int):
        return [Assign(place, Const(value))]
    size: Term = Zeros(Const(len(value)))
    places = (Place(place.name, (*place.indices, Const(at))) for at in range(len(value)))
    return [Assign(place, size), *chain.from_iterable(map(_stores, places, value))]
