"""The `contracts infer` command: the path clauses that functions can have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import only, tell_of
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import (
    AnswerFormat,
    Define,
    File,
    Memory,
    OutputFile,
    Timeout,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.contracts_options import (
    ContractBufferOption,
    Only,
    Procs,
    names_in,
    numbers_of_processes,
)
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.contracts.checks.function_checks import Checking
from rdma_robust.errors import LimitReached
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Source, expand
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.contracts_question import ContractsAsking, load_contracts_room, read_contracts

if TYPE_CHECKING:
    from rdma_robust.contracts.inference.inferred_clauses import Inference
    from rdma_robust.contracts.language.contract_program import ContractProgram
    from rdma_robust.limits import Limits


def infer_command(
    context: typer.Context,
    file: File,
    *,
    procs: Procs = "1..4",
    only: Only = None,
    buffer: ContractBufferOption = "infinite",
    define: Define = None,
    timeout: Timeout = TIMEOUT_S,
    memory: Memory = None,
    format_: AnswerFormat = None,
    output: OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    asking = ContractsAsking(
        Checking(numbers_of_processes(procs), only=names_in(only), buffer=buffer),
        limit(timeout),
        memory_limit(memory),
        define=tuple(define or ()),
        width=width_of_output(output),
    )
    form = report_form(output, format_, TEXT_OR_JSON, expand([file], suffixes=(MESSAGES_SUFFIX,)))
    context.obj.append(partial(run_contracts_infer, file, asking, form, output))


def run_contracts_infer(file: str, asking: ContractsAsking, form: str, to: str | None) -> Exit:
    """Infer and report; return the exit code. Raises UsageError."""
    item = only(file, "contracts infer", asking.define, (MESSAGES_SUFFIX,))
    return tell_of(item, (form, to), asking.limits, partial(_told, asking, form), _load)


def _load() -> None:
    load_contracts_room()
    import rdma_robust.reports.contracts.inference_report  # noqa: F401, PLC0415 - slow: before limits


def _told(asking: ContractsAsking, form: str, source: Source, limits: Limits) -> tuple[str, Exit]:
    from rdma_robust.reports.contracts.inference_report import inference_object, inference_text  # noqa: PLC0415

    program = read_contracts(source, asking.checking)
    found = list(_inferred(program, asking.checking, limits))
    code = Exit.UNKNOWN if any(each.reason for each in found) else Exit.OK
    if form == "text":
        return "\n".join(inference_text(found, asking.width)), code
    from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415

    return layout(inference_object(program, found, TOOL)), code


def _inferred(program: ContractProgram, checking: Checking, limits: Limits) -> Iterator[Inference]:
    """Yield the clauses of each function that is asked for, and why there are none where a limit came."""
    from rdma_robust.contracts.inference.inferred_clauses import Inference, inferred  # noqa: PLC0415 - slow

    for contract in program.contracts:
        if contract.loop is not None or (checking.only and contract.name not in checking.only):
            continue
        try:
            yield inferred(program, contract.name, checking.procs, limits)
        except LimitReached as limit_:
            yield Inference(contract.name, checking.procs, reason=str(limit_))
