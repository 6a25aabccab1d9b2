"""The explanation of the contracts of one file: what holds of each function, and runs that violate contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.contracts.contract_answers import FunctionAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import Column, Columns
from rdma_robust.reports.contracts.contract_explained import WIDTH, ContractFinding, contract_findings, finding_text
from rdma_robust.reports.contracts.contracts_json import program_object
from rdma_robust.reports.contracts.contracts_record import ContractsRecord, FunctionRow, contracts_record
from rdma_robust.text import count, filled, one_line, printable

FORMAT: Final = "rdma-robust/contracts-explain"
VERSION: Final = 1
HEADS: Final = ("function", "verdict", "n", "mode", "runs", "z3", "bounds")
PATHS: Final = (
    "[ enters   ] leaves   o sends   --> message   - -> a message from outside   X what is wrong   # waits for ever"
)


@dataclass(frozen=True, slots=True)
class ContractsExplanation:
    """All that is said of a file; `findings` has the violation for the fewest processes of each function that has one."""

    program: ContractProgram
    answers: tuple[FunctionAnswer, ...]
    record: ContractsRecord
    findings: tuple[ContractFinding, ...]

    @property
    def exit_code(self) -> Exit:
        return Exit(self.record.exit_code)

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        for word in ("VIOLATED", "UNKNOWN"):
            names = [answer.name for answer in self.answers if answer.verdict == word]
            if names:
                return f"{word}: {', '.join(names)}"
        return "VERIFIED" if self.answers else "no contract"

    @property
    def under(self) -> str:
        """Under which buffer, where that is not the usual one."""
        return "" if self.program.buffer == "infinite" else f" under {self.program.buffer}"


def contracts_explanation(program: ContractProgram, answers: Sequence[FunctionAnswer]) -> ContractsExplanation:
    """Return the explanation of a file from its answers."""
    record = contracts_record(program, answers, 0.0, expect=False)
    return ContractsExplanation(program, tuple(answers), record, tuple(contract_findings(program, answers)))


def cells_of(row: FunctionRow) -> tuple[str, ...]:
    """Return what stands under :data:`HEADS`."""
    verdict = row.verdict if row.error is None else f"{row.verdict} {row.error}"
    return (row.function, verdict, row.procs, row.mode, str(row.runs), str(row.solver_calls), row.bounds or "-")


def contracts_explanation_text(told: ContractsExplanation, width: int | None, *, full: bool) -> list[str]:
    """Return the explanation as lines."""
    room = width or WIDTH
    program = told.program
    said = f"{printable(program.file)}: {count(len(told.answers), 'function')} with a contract{told.under}: {told.verdict}"
    lines = filled(said, room, "", "  ")
    rows = [cells_of(row) for row in told.record.rows]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(len(HEADS))]
    ranks = (0, 0, 0, 3, 2, 4, 5)
    columns = Columns(
        tuple(
            Column(head, widest, rank=rank, wraps=head == "bounds")
            for head, widest, rank in zip(HEADS, widths, ranks, strict=True)
        ),
        room,
        "  ",
    )
    lines += ["", *columns.head()]
    for row, cells in zip(told.record.rows, rows, strict=True):
        note = "" if row.verdict == "VIOLATED" else one_line(row.note, 300)
        lines += columns.row(tuple(map(printable, cells)), note)
    for each in told.findings:
        lines += ["", *finding_text(each, room, full=full)]
    return [*lines, "", *filled(PATHS, room)] if told.findings else lines


def contracts_explanation_object(told: ContractsExplanation, tool: Mapping[str, object]) -> JsonObject:
    """Return the whole explanation as JSON (`schema/contracts-explain.schema.json`); `tool` says what made it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "verdict": told.verdict,
        **program_object(told.program, told.answers, told.record.claims, 0.0),
        "exit_code": int(told.exit_code),
    }
