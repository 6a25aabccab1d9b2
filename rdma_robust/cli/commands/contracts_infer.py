"""The `contracts infer` command: the path clauses that functions can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import only, tell_of
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.contracts_options import ContractBufferOption, Only, Procs, names_in, numbers_of_processes
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.messages_options import NAMED
from rdma_robust.contracts.checks.function_checks import Checking
from rdma_robust.contracts.inferred_clauses import Inference, inferred
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.errors import LimitReached
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import layout, valid_unicode
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Source, expand
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.limits import Limits
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.contracts_question import ContractsAsking, load_contracts_room, read_contracts
from rdma_robust.reports.contracts.contract_words import procs_ranges
from rdma_robust.text import filled, printable


def infer_command(
    context: typer.Context,
    file: arguments.File,
    *,
    procs: Procs = "1..4",
    only: Only = None,
    buffer: ContractBufferOption = "infinite",
    define: arguments.Define = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    asking = ContractsAsking(
        Checking(numbers_of_processes(procs), only=names_in(only), buffer=buffer),
        arguments.limit(timeout),
        arguments.memory_limit(memory),
        define=tuple(define or ()),
        width=width_of_output(output),
    )
    form = report_form(output, format_, TEXT_OR_JSON, expand([file], suffixes=(MESSAGES_SUFFIX,), named=NAMED))
    context.obj.append(partial(run_contracts_infer, file, asking, form, output))


def run_contracts_infer(file: str, asking: ContractsAsking, form: str, to: str | None) -> Exit:
    """Infer and report; return the exit code. Raises UsageError."""
    item = only(file, "contracts infer", asking.define, (MESSAGES_SUFFIX,), NAMED)
    return tell_of(item, (form, to), asking.limits, partial(_told, asking, form), load_contracts_room)


def _told(asking: ContractsAsking, form: str, source: Source, limits: Limits) -> tuple[str, Exit]:
    program = read_contracts(source, asking.checking)
    found = list(_inferred(program, asking.checking, limits))
    code = Exit.UNKNOWN if any(each.reason for each in found) else Exit.OK
    if form == "text":
        return "\n".join(inference_text(found, asking.width)), code
    return layout(inference_object(program, found, TOOL)), code


def _inferred(program: ContractProgram, checking: Checking, limits: Limits) -> Iterator[Inference]:
    """Yield the clauses of each function that is asked for, and why there are none where a limit came."""
    for contract in program.contracts:
        if contract.loop is not None or (checking.only and contract.name not in checking.only):
            continue
        try:
            yield inferred(program, contract.name, checking.procs, limits)
        except LimitReached as limit_:
            yield Inference(contract.name, checking.procs, reason=str(limit_))


FORMAT: Final = "rdma-robust/contracts-infer"
VERSION: Final = 1
WIDTH: Final = 80


def inference_text(found: Sequence[Inference], width: int | None) -> list[str]:
    """Return the clauses of functions as lines, each function after an empty line but the first."""
    room = width or WIDTH
    lines: list[str] = []
    for each in found:
        lines += [*([""] if lines else []), f"{printable(each.function)}, n = {procs_ranges(each.procs)}:"]
        if each.reason:
            lines += filled(f"nothing is inferred: {printable(each.reason)}", room, "  ", "    ")
            continue
        clauses = (*each.quiet_from, *each.waitsfor, *each.quiet_to)
        lines += [f"  {clause};" for clause in clauses] or [
            "  no clause: nothing is promised, and nothing has to be required"
        ]
    return lines


def inference_object(program: ContractProgram, found: Sequence[Inference], tool: Mapping[str, object]) -> JsonObject:
    """Return the clauses as JSON (`schema/contracts-infer.schema.json`); `tool` says what made it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "file": valid_unicode(program.file),
        "functions": [
            {
                "name": each.function,
                "n": list(each.procs),
                "quiet_from": list(each.quiet_from),
                "waitsfor": list(each.waitsfor),
                "quiet_to": list(each.quiet_to),
                "tried": each.tried,
                "reason": each.reason,
            }
            for each in found
        ],
    }
