"""All functions of a file against their contracts, for each number of processes that is asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from rdma_robust.contracts.contract_answers import (
    AnswerKind,
    ContractEngine,
    Counterexample,
    EveryProcsAnswer,
    FunctionAnswer,
    Mode,
    ProcsAnswer,
)
from rdma_robust.contracts.language.contract_program import CHANNELS, Contract, ContractBuffer, ContractProgram
from rdma_robust.contracts.language.loop_rounds import round_program
from rdma_robust.limits import Limits

if TYPE_CHECKING:
    from rdma_robust.contracts.any_procs.any_proof import EveryProcs

ACROSS: Final = "a message is on its way across a collective operation, which MPI allows, and contracts here do not"
NEVER_STORED: Final = "a value is used that was never stored"
"""In C, whose types tell numbers from arrays, what has no value yet is the only array where a number should be."""
NOT_COMPARED: Final = "self-check: a limit came first, nothing was compared"
BETWEEN: Final = "what holds from round to round (`waitsfor`, `quiet from`) is looked at by the modes `auto` and `modular`"


@dataclass(frozen=True, slots=True)
class Checking:
    """The question about functions: `procs` are numbers of processes, `only` names of functions; none is all of them.

    `buffer` is that of the program to check. With `any_n` a proof for every number of processes is tried besides, with
    `self_check` answers are compared with other ways to them.
    """

    procs: tuple[int, ...] = (1, 2, 3, 4)
    mode: Mode = "auto"
    only: tuple[str, ...] = ()
    buffer: ContractBuffer = "infinite"
    any_n: bool = False
    self_check: bool = False


def checked(program: ContractProgram, checking: Checking, limits: Limits) -> Iterator[FunctionAnswer]:
    """Yield the answer for each function with a contract in the file, in its order. Raises LimitReached at a limit."""
    engine = _of_mode(program, checking, limits)
    proofs = _proofs(program, limits) if checking.any_n else None
    for contract in program.contracts:
        if not checking.only or contract.name in checking.only:
            between = checking.mode == "inlined"
            answers = tuple(_checked(program, contract, procs, engine, limits, between=between) for procs in checking.procs)
            answers = _about_something(answers)
            every = _every(proofs, contract.name, answers) if checking.any_n else None
            yield FunctionAnswer(contract.name, _kind(contract), answers, every=every)


def _about_something(answers: tuple[ProcsAnswer, ...]) -> tuple[ProcsAnswer, ...]:
    """Return the answers, as UNKNOWN if all of them are VERIFIED because there was nothing to look at.

    That this is so for some numbers of processes, and not for others, is what a `requires` may mean.
    """
    if not all(each.verdict == "VERIFIED" and each.reason for each in answers):
        return answers
    return tuple(replace(each, verdict="UNKNOWN", reason=f"nothing was checked: {each.reason}") for each in answers)


def _proofs(program: ContractProgram, limits: Limits) -> EveryProcs | None:
    """Return what proves functions for every number of processes, None without z3."""
    if find_spec("z3") is None:
        return None
    from rdma_robust.contracts.any_procs.any_proof import EveryProcs  # noqa: PLC0415 - slow

    return EveryProcs(program, limits)


def _every(proofs: EveryProcs | None, function: str, answers: tuple[ProcsAnswer, ...]) -> EveryProcsAnswer:
    """Return what is proved for every number of processes."""
    violated = next((each for each in answers if each.verdict == "VIOLATED"), None)
    if violated is not None:
        return EveryProcsAnswer("UNKNOWN", reason=f"it is violated for n = {violated.procs}")
    if proofs is None:
        return EveryProcsAnswer("UNKNOWN", reason="needs z3: pip install z3-solver")
    return proofs.answer(function)


def _of_mode(program: ContractProgram, checking: Checking, limits: Limits) -> ContractEngine:
    """Return the engine for the mode; they are loaded when they are needed."""
    from rdma_robust.contracts.runs.runs_engine import runs  # noqa: PLC0415 - slow

    if checking.mode == "inlined":
        return runs
    from rdma_robust.contracts.modular.modes import ModularEngine  # noqa: PLC0415 - slow

    modular = ModularEngine(program, runs, checking.mode, limits)
    return lambda _program, function, procs, _limits: modular.answer(function, procs)


def _checked(
    program: ContractProgram, contract: Contract, procs: int, engine: ContractEngine, limits: Limits, *, between: bool
) -> ProcsAnswer:
    started = time.monotonic()
    if contract.loop is not None:
        program = round_program(program, contract)
    found = engine(program, contract.name, procs, limits)
    if found.verdict == "VERIFIED" and found.mode == "inlined" and between and _is_between(contract):
        found = replace(found, verdict="UNKNOWN", reason=BETWEEN)
    if found.counterexample is not None:
        from rdma_robust.contracts.rerun.confirming import replayed_counterexample  # noqa: PLC0415 - only for violations

        example, collates = replayed_counterexample(program, contract.name, found.counterexample)
        if program.collectives is not None and example.clause == "kind":
            example = replace(example, text=NEVER_STORED)
        found = replace(found, counterexample=example, collates=collates)
        if example.clause == CHANNELS and _is_apart(program, example):
            found = replace(found, verdict="UNKNOWN", counterexample=None, collates=(), reason=ACROSS)
    return replace(found, seconds=round(time.monotonic() - started, 6))


def _is_apart(program: ContractProgram, example: Counterexample) -> bool:
    """Whether the call at which a message is on its way has channels of its own, so that its contract says nothing of it."""
    if program.collectives is None:
        return False
    entered = [each.function for each in example.events if each.process == example.process and each.event == "enter"]
    function = entered[example.collate] if example.collate < len(entered) else ""
    return function in program.collectives or any(each.name == function for each in program.library)


def _is_between(contract: Contract) -> bool:
    """Whether a contract of a loop says something that is about more than one round."""
    loop = contract.loop
    return loop is not None and bool(loop.waits or any(each.kind == "quiet from" for each in loop.paths))


def _kind(contract: Contract) -> AnswerKind:
    return contract.kind if contract.loop is None else "loop"


def compare_answers(program: ContractProgram, answers: list[FunctionAnswer], limits: Limits) -> None:
    """Compare the answers, in place, with other ways to them; one that is not, or not in time, has a warning.

    Raises InternalError if a way contradicts an answer, LimitReached and Overrun at a limit.
    """
    from rdma_robust.contracts.checks.self_check import compare_function  # noqa: PLC0415 - only where it is asked for

    whole = list(answers)
    for at, answer in enumerate(whole):
        answers[at] = replace(answer, warnings=(*answer.warnings, NOT_COMPARED))
    for at, answer in enumerate(whole):
        contract = program.contract(answer.name)
        assert contract is not None
        opened = compare_function(program, contract, answer.answers, limits.share(1 / (len(whole) - at)))
        answers[at] = replace(answer, warnings=(*answer.warnings, *opened))


def left_open(program: ContractProgram, checking: Checking, done: int, reason: str) -> Iterator[FunctionAnswer]:
    """Yield UNKNOWN for the functions after the first `done` that were asked for."""
    asked = [each for each in program.contracts if not checking.only or each.name in checking.only]
    for contract in asked[done:]:
        answers = tuple(ProcsAnswer(procs, "UNKNOWN", "inlined", "runs", reason=reason) for procs in checking.procs)
        yield FunctionAnswer(contract.name, _kind(contract), answers)
