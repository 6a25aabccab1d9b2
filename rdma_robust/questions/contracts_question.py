"""The question of `contracts check`: do the functions of a file keep their contracts?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rdma_robust.contracts.checks.function_checks import Checking
from rdma_robust.diagnose import did_you_mean
from rdma_robust.errors import UsageError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import late
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import warning_texts
from rdma_robust.guard import cut_short
from rdma_robust.limits import Limits, Progress
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.contracts.contract_answers import FunctionAnswer
    from rdma_robust.contracts.language.contract_program import ContractProgram
    from rdma_robust.reports.contracts.contracts_record import ContractsRecord


@dataclass(frozen=True, slots=True)
class ContractsAsking:
    """The question about every file. The limits are those of one file, None is no limit.

    `explain` asks for what is beneath rows, `each` for a row for each number of processes; the text is `width` wide.
    `page` asks for fragments of HTML, `findings` for what somebody should look at, `proofs` for runs to be kept.
    """

    checking: Checking = field(default_factory=Checking)
    timeout: float | None = None
    memory: int | None = None
    expect: bool = False
    define: tuple[str, ...] = ()
    explain: bool = False
    each: bool = False
    width: int | None = None
    page: bool = False
    findings: bool = False
    proofs: bool = False

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        asked = self.checking
        return {
            "procs": list(asked.procs),
            "mode": asked.mode,
            "engine": "runs",
            "self_check": asked.self_check,
            "only": list(asked.only),
            "buffer": asked.buffer,
            "any_n": asked.any_n,
            "expect": self.expect,
            "define": list(self.define),
            "timeout": self.timeout,
            "memory": self.memory,
        }

    def limits(self) -> Limits:
        """Return the limits of a file, from now on."""
        return Limits.of(self.timeout, None, self.memory)


@dataclass
class CheckedFile:
    """The answers so far about a file: a limit may end the work between two functions."""

    program: ContractProgram | None = None
    answers: list[FunctionAnswer] = field(default_factory=list)


def check_in_time(source: Source, asking: ContractsAsking, limits: Limits) -> CheckedFile:
    """Return the contracts of `source` and what was found until a limit came; what was not is UNKNOWN with the limit.

    Raises what reading raises, LimitReached and Overrun if there was no time for that, UsageError for a function that is
    not there, and InternalError.
    """
    from rdma_robust.contracts.checks.function_checks import checked, compare_answers, left_open  # noqa: PLC0415 - slow

    so_far = CheckedFile()

    def check() -> None:
        so_far.program = read_contracts(source, asking.checking)
        for answer in checked(so_far.program, asking.checking, limits):
            so_far.answers.append(answer)
        if asking.checking.self_check:
            compare_answers(so_far.program, so_far.answers, limits)

    cut = cut_short(limits, check, lambda: so_far.program is not None)
    assert so_far.program is not None, "not cut before it was read"
    so_far.answers += left_open(so_far.program, asking.checking, len(so_far.answers), cut)
    return so_far


def read_contracts(source: Source, checking: Checking) -> ContractProgram:
    """Return the contracts in `source`. Raises UnreadableError, ProgramError, and UsageError for a function without one."""
    from rdma_robust.contracts.language.load_contracts import load_contracts  # noqa: PLC0415 - slow

    program = replace(load_contracts(read_source(source), source.name), buffer=checking.buffer)
    there = [each.name for each in program.contracts]
    for name in checking.only:
        if name not in there:
            hint = did_you_mean(name, there) or (f"there are {', '.join(there)}" if there else "no function has one")
            raise UsageError(f"--only: {printable(source.name)} has no contract of {name!r}; {hint}")
    return program


def load_contracts_room() -> None:
    """Load what answers, once for all processes that will be started; no limit counts it."""
    from rdma_robust.contracts.language import load_contracts  # noqa: F401, PLC0415
    from rdma_robust.messages.language.message_words import message_grammar  # noqa: PLC0415
    from rdma_robust.reports.contracts import contracts_record  # noqa: F401, PLC0415

    message_grammar()


def _answer(
    source: Source, asking: ContractsAsking, limits: Limits, _: Progress, __: Callable[[Answer[ContractsRecord]], None]
) -> Answer[ContractsRecord]:
    from rdma_robust.reports.contracts.contracts_record import contracts_record  # noqa: PLC0415

    started = time.monotonic()
    found = check_in_time(source, asking, limits)
    program = found.program
    assert program is not None, "checked, so read"
    spent = round(time.monotonic() - started, 6)
    record = contracts_record(program, found.answers, spent, expect=asking.expect, each=asking.each)
    if asking.explain:
        record = _explained(record, program, found.answers, asking)
    if asking.page:
        from rdma_robust.reports.contracts.contracts_explanation import contract_parts  # noqa: PLC0415 - seldom wanted

        parts = contract_parts(program, found.answers)
        record = replace(record, rows=tuple(replace(row, page=parts.get(row.function, "")) for row in record.rows))
    if asking.findings:
        from rdma_robust.reports.contracts.reported_contracts import reported_contracts  # noqa: PLC0415 - for few forms

        record = replace(record, findings=reported_contracts(program, found.answers, expect=asking.expect))
    warnings = warning_texts(program.warnings, program.file, program.source)
    return Answer(record, warnings, text=record.source, proofs=tuple(_runs(found.answers)) if asking.proofs else ())


def _runs(answers: list[FunctionAnswer]) -> Iterator[dict[str, object]]:
    """Yield the counterexamples as they are kept, each with its function."""
    from rdma_robust.contracts.rerun.kept_runs import run_object  # noqa: PLC0415 - only where they are kept

    for answer in answers:
        for each in answer.answers:
            if each.counterexample is not None:
                yield {"function": answer.name, "run": run_object(each.counterexample)}


def _explained(
    record: ContractsRecord, program: ContractProgram, answers: list[FunctionAnswer], asking: ContractsAsking
) -> ContractsRecord:
    """Return a record whose rows have what explains them beneath."""
    from rdma_robust.reports.contracts.contracts_explanation import contract_findings, finding_text  # noqa: PLC0415

    room = None if asking.width is None else asking.width - 2
    found = {
        each.function: tuple(finding_text(each, room, full=asking.each)) for each in contract_findings(program, answers)
    }
    return replace(record, rows=tuple(replace(row, lines=found.get(row.function, ())) for row in record.rows))


CONTRACTS_CHECK: Final[Question[ContractsAsking, ContractsRecord]] = Question(
    "contracts check",
    ("rdma-robust/contracts-check", 1),
    "file",
    _answer,
    late("rdma_robust.reports.contracts.contracts_record:unanswered_contracts"),
    late("rdma_robust.reports.contracts.contracts_view:ContractsView"),
    load_contracts_room,
)
