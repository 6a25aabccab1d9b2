"""Records of answers of `contracts check` about one file: plain data that crosses processes, for every form of report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.contract_answers import (
    Collate,
    Counterexample,
    EveryProcsAnswer,
    FunctionAnswer,
    Inputs,
    ProcsAnswer,
    Standing,
    Verdict,
    VisibleEvent,
)
from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.frame.answer import DiagnosticView, Failure, JsonObject, diagnostic_object, diagnostics
from rdma_robust.frame.exits import Exit, within
from rdma_robust.frame.finding import Finding
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.language.syntax.ast import ProgramTree
from rdma_robust.messages.language.message_terms import Value
from rdma_robust.messages.language.message_tree import Proc, declarations
from rdma_robust.reports.contracts.contract_words import (
    bounds_text,
    every_text,
    first_violation,
    main_place,
    procs_text,
    reasons_of,
    shown_verdict,
    text_at,
    violation_line,
)
from rdma_robust.reports.contracts.reported_contracts import JudgedContractClaim, judged_claims


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


_CODES: dict[Verdict, Exit] = {"VERIFIED": Exit.OK, "VIOLATED": Exit.NOT_ROBUST, "UNKNOWN": Exit.UNKNOWN}


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """The row of a function, or that of one number of processes in it."""

    function: str
    verdict: Verdict
    error: ErrorClass | None
    mode: str
    procs: str
    bounds: str
    runs: int
    solver_calls: int
    time_s: float
    note: str = ""
    expected: bool | None = None
    claimed: bool = False
    lines: tuple[str, ...] = ()
    page: str = ""
    violation: str = ""

    @property
    def said(self) -> str:
        """The verdict as it is shown, with the class of the error."""
        return " ".join([shown_verdict(self.verdict), *([self.error] if self.error else [])])


@dataclass(frozen=True, slots=True)
class ContractsRecord:
    """The answers for one file; `error_kind` is set exactly if there are none because of an error.

    `rows` has a row for each function and, where these are wanted, after it one for each number of processes. `lines` and
    `page` of a row are what explains it as text and as HTML, `findings` what somebody should look at, if they are wanted.
    `runs` says whether the file has processes too.
    """

    file: str
    exit_code: int
    rows: tuple[FunctionRow, ...] = ()
    reason: str = ""
    error_kind: str | None = None
    claims: tuple[JudgedContractClaim, ...] = ()
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0
    result: JsonObject | None = None
    functions: int = 0
    verdicts: tuple[Verdict, ...] = ()
    program: str | None = None
    source: str | None = None
    findings: tuple[Finding, ...] = ()
    runs: bool = False

    @property
    def answered(self) -> bool:
        """Whether there are answers, be they that nobody knows."""
        return bool(self.rows) or not self.reason

    @property
    def function_rows(self) -> tuple[FunctionRow, ...]:
        """The rows of functions."""
        return tuple(row for row in self.rows if row.function)

    @property
    def as_expected(self) -> bool | None:
        """Whether all claims are met; None without a claim, or as long as some are open and none fails."""
        status = {each.status for each in self.claims}
        return False if "failed" in status else None if not status or "unknown" in status else True


def contracts_record(
    program: ContractProgram, answers: Sequence[FunctionAnswer], time_s: float, *, expect: bool, each: bool = False
) -> ContractsRecord:
    """Return the record of a file from its answers; with `each` there is a row for each number of processes too."""
    claims = judged_claims(program, answers)
    rows: list[FunctionRow] = []
    for answer in answers:
        rows.append(_row(program, answer, [claim for claim in claims if claim.function == answer.name], expect=expect))
        rows += [_row_of(program, answer.name, one) for one in answer.answers] if each else []
    return ContractsRecord(
        file=program.file,
        exit_code=within(_exits(answers, claims, expect=expect)),
        rows=tuple(rows),
        claims=claims,
        warnings=diagnostics(program.warnings),
        time_s=time_s,
        result=program_object(program, answers, claims, time_s),
        functions=len(answers),
        verdicts=tuple(answer.verdict for answer in answers),
        program=program.name,
        source=program.source,
        runs=isinstance(tree := program.tree, ProgramTree) and any(isinstance(each, Proc) for each in declarations(tree)),
    )


def unanswered_contracts(failure: Failure, _: object) -> ContractsRecord:
    """Return the record of a file that got no answer."""
    return failure.record(ContractsRecord, result=no_contracts_object(failure))


def _exits(answers: Sequence[FunctionAnswer], claims: Sequence[JudgedContractClaim], *, expect: bool) -> list[Exit]:
    if not expect:
        return [_CODES[answer.verdict] for answer in answers] or [Exit.OK]
    met = {"failed": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN, "met": Exit.OK}
    return [met[each.status] for each in claims] or [Exit.NOT_ROBUST]


def _row(
    program: ContractProgram, answer: FunctionAnswer, claims: Sequence[JudgedContractClaim], *, expect: bool
) -> FunctionRow:
    contract = program.contract(answer.name)
    violation = first_violation(answer)
    status = {each.status for each in claims}
    every = () if answer.every is None else (answer.every,)
    return FunctionRow(
        function=answer.name,
        verdict=answer.verdict,
        error=None if violation is None or violation.counterexample is None else violation.counterexample.error,
        mode=", ".join(dict.fromkeys(each.mode for each in answer.answers)),
        procs=procs_text(answer),
        bounds="" if contract is None else bounds_text(program, contract),
        runs=sum(each.runs for each in answer.answers),
        solver_calls=sum(each.solver_calls for each in every) + sum(each.solver_calls for each in answer.answers),
        time_s=round(sum(each.seconds for each in every) + sum(each.seconds for each in answer.answers), 6),
        note=_note(program, answer, claims, violation, expect=expect),
        violation=_violation(program, answer.name, violation),
        expected=False if "failed" in status else None if "unknown" in status or not status else True,
        claimed=bool(claims),
    )


def _row_of(program: ContractProgram, name: str, answer: ProcsAnswer) -> FunctionRow:
    """Return the row of a function for one number of processes."""
    example = answer.counterexample
    return FunctionRow(
        function="",
        verdict=answer.verdict,
        error=None if example is None else example.error,
        mode=answer.mode,
        procs=str(answer.procs),
        bounds="",
        runs=answer.runs,
        solver_calls=answer.solver_calls,
        time_s=answer.seconds,
        note=answer.reason or _violation(program, name, answer),
    )


def _violation(program: ContractProgram, name: str, found: ProcsAnswer | None) -> str:
    """Return the violation that an answer shows in a sentence, '' if it shows none."""
    if found is None or found.counterexample is None:
        return ""
    return violation_line(program, name, found, found.counterexample)


def _note(
    program: ContractProgram,
    answer: FunctionAnswer,
    claims: Sequence[JudgedContractClaim],
    violation: ProcsAnswer | None,
    *,
    expect: bool,
) -> str:
    """Return what a row says besides its cells."""
    failed = [f"line {each.line}: expected {each.text}, found {each.found}" for each in claims if each.status == "failed"]
    if expect:
        under = "" if program.buffer == "infinite" else f" under {program.buffer}"
        unsaid = [f"no `expect contract` line{under}", *filter(None, [_violation(program, answer.name, violation)])]
        return "; ".join(failed or ([] if claims else unsaid))
    if violation is not None:
        return _violation(program, answer.name, violation)
    weak = dict.fromkeys(
        f"{each.function}: {each.needed if each.proposal is None else f'add `{each.proposal}`'}"
        for one in answer.answers
        for each in one.weak
    )
    return "; ".join((*reasons_of(answer), *weak, *answer.warnings, *every_text(answer.every)))
