"""The JSON of `contracts check` (`schema/contracts-check.schema.json`): one result for each file."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from rdma_robust.contracts.contract_answers import (
    Collate,
    Counterexample,
    EveryProcsAnswer,
    FunctionAnswer,
    Inputs,
    ProcsAnswer,
    VisibleEvent,
)
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.standings import Standing
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.frame.answer import Failure, JsonObject, diagnostic_object
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.messages.language.message_terms import Value
from rdma_robust.reports.contracts.contract_claims import JudgedContractClaim
from rdma_robust.reports.contracts.contract_words import main_place, text_at


def program_object(
    program: ContractProgram, answers: Sequence[FunctionAnswer], claims: Iterable[JudgedContractClaim], time_s: float
) -> JsonObject:
    """Return the object of one file."""
    return {
        "file": valid_unicode(program.file),
        "program": program.name,
        "buffer": program.buffer,
        "functions": [_function(program, each) for each in answers],
        "claims": [dataclasses.asdict(each) for each in claims],
        "reason": "",
        "error_kind": None,
        "warnings": [
            {"line": each.span.line, "column": each.span.column, "code": each.code, "message": each.located}
            for each in program.warnings
        ],
        "errors": [],
        "time_s": time_s,
    }


def no_contracts_object(result: Failure) -> JsonObject:
    """Return the object of a file that got no answer."""
    return {
        "file": valid_unicode(result.file),
        "program": None,
        "buffer": None,
        "functions": [],
        "claims": [],
        "reason": result.reason,
        "error_kind": result.error_kind,
        "warnings": [diagnostic_object(each) for each in result.warnings],
        "errors": [diagnostic_object(each) for each in result.errors],
        "time_s": result.time_s,
    }


def _function(program: ContractProgram, answer: FunctionAnswer) -> JsonObject:
    modes = dict.fromkeys(each.mode for each in answer.answers)
    return {
        "name": answer.name,
        "contract": answer.kind,
        "verdict": answer.verdict,
        "mode": ", ".join(modes),
        "warnings": list(answer.warnings),
        "n": [_procs(program, each) for each in answer.answers],
        "every_n": None if answer.every is None else _every(answer.every),
    }


def _every(answer: EveryProcsAnswer) -> JsonObject:
    return {
        "verdict": answer.verdict,
        "inputs": answer.inputs,
        "most": answer.most,
        "solver_calls": answer.solver_calls,
        "time_s": answer.seconds,
        "reason": answer.reason,
    }


def _procs(program: ContractProgram, answer: ProcsAnswer) -> JsonObject:
    example = answer.counterexample
    return {
        "n": answer.procs,
        "verdict": answer.verdict,
        "mode": answer.mode,
        "engine": answer.engine,
        "class": None if example is None else example.error,
        "clause": None if example is None else _clause(program, example),
        "inputs": None if example is None else _inputs(example.inputs),
        "runs": answer.runs,
        "states": answer.states,
        "solver_calls": answer.solver_calls,
        "time_s": answer.seconds,
        "counterexample": None if example is None else counterexample_object(program, example, answer.collates),
        "weak": [dataclasses.asdict(each) for each in answer.weak],
        "reason": answer.reason,
    }


def counterexample_object(program: ContractProgram, example: Counterexample, collates: Sequence[Collate]) -> JsonObject:
    """Return a run that violates a contract."""
    return {
        "process": example.process,
        "other": example.other,
        "text": example.text,
        "place": _place(program, main_place(program, example)),
        "call": None if example.call == NO_SPAN else _place(program, example.call),
        "input": _inputs(example.inputs),
        "events": [_event(program, each) for each in example.events],
        "collates": [
            {
                "function": each.function,
                "number": each.number,
                "entries": [_state(state) for state in each.entries],
                "exits": [_state(state) for state in each.exits],
            }
            for each in collates
        ],
        "ends": [_standing(program, each) for each in example.ends],
    }


def _clause(program: ContractProgram, example: Counterexample) -> JsonObject:
    return {"kind": example.clause, "text": text_at(program, example.span), **_place(program, example.span)}


def _event(program: ContractProgram, event: VisibleEvent) -> JsonObject:
    message = event.event not in ("enter", "exit")
    return {
        "proc": event.process,
        "event": event.event,
        "function": None if message else event.function,
        "peer": event.peer,
        "tag": event.tag,
        "port": event.port if message else None,
        "value": _value(event.value) if message else None,
        **_place(program, event.span),
    }


def _standing(program: ContractProgram, standing: Standing) -> JsonObject:
    message = standing.next in ("send", "recv", "complete")
    return {
        "proc": standing.process,
        "next": standing.next,
        "peer": standing.peer,
        "tag": standing.tag,
        "port": standing.port if message else None,
        **_place(program, standing.span),
    }


def _place(program: ContractProgram, span: Span) -> JsonObject:
    place = span.within(program.file)
    known = place != NO_SPAN
    return {"line": place.line if known else None, "column": place.column if known else None}


def _inputs(inputs: Inputs) -> list[JsonObject]:
    return [{name: _value(value) for name, value in state.items()} for state in inputs]


def _state(state: Mapping[str, Value] | None) -> JsonObject | None:
    return None if state is None else {name: _value(value) for name, value in state.items()}


def _value(value: Value) -> object:
    return value if isinstance(value, int) else [_value(each) for each in value]
