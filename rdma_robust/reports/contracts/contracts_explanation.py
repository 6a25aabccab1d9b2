"""The explanation of the contracts of one file: what holds of each function, and runs that violate contracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rdma_robust.contracts.contract_answers import Collate, Counterexample, FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import Column, Columns
from rdma_robust.messages.language.message_terms import Value, shown_value
from rdma_robust.reports.contracts.contract_words import (
    contract_chart,
    first_violation,
    name_of,
    shown_verdict,
    text_at,
    violation_line,
)
from rdma_robust.reports.contracts.contracts_record import ContractsRecord, FunctionRow, contracts_record, program_object
from rdma_robust.reports.share.chart import KINDS, Chart, ChartRow, chart_text, marked_lines
from rdma_robust.reports.share.chart_svg import chart_svg
from rdma_robust.reports.share.html_templates import templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, STYLE, page_script
from rdma_robust.text import count, filled, one_line, padded, printable, width_of

WIDTH = 80
MOST_CELLS = 64
"""Elements of an array in a table."""


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Values by names (rows) and processes (columns); `title` says when."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """A violation as it is shown: one sentence, the clause with its line, the run, and what processes have in it."""

    function: str
    procs: int
    headline: str
    clause: str
    line: int | None
    chart: Chart
    tables: tuple[ValueTable, ...]


def contract_finding(program: ContractProgram, function: str, found: ProcsAnswer) -> ContractFinding:
    """Return the violation in an answer that has one."""
    example = found.counterexample
    assert example is not None
    place = example.span.within(program.file)
    title = f"{function}, n = {found.procs}: {example.error}"
    return ContractFinding(
        function,
        found.procs,
        violation_line(program, function, found, example),
        text_at(program, example.span),
        place.line or None,
        contract_chart(program, title, function, example),
        tuple(_tables(program, function, example, found.collates)),
    )


def contract_findings(program: ContractProgram, answers: Sequence[FunctionAnswer]) -> list[ContractFinding]:
    """Return the violation for the fewest processes of each function that has one."""
    found = ((answer.name, first_violation(answer)) for answer in answers)
    return [contract_finding(program, name, one) for name, one in found if one is not None]


def finding_text(found: ContractFinding, width: int | None, *, full: bool) -> list[str]:
    """Return a violation as lines."""
    room = width or WIDTH
    lines = filled(printable(found.headline), room, "", "  ")
    if found.clause:
        lines += ["", *filled(f"line {found.line}: {printable(found.clause)}", room, "  ", "    ")]
    for table in found.tables[:1]:
        lines += ["", *table_lines(table)]
    lines += ["", *chart_text(found.chart, room, full=full)]
    for table in found.tables[1:]:
        lines += ["", *table_lines(table)]
    return lines


def table_lines(table: ValueTable) -> Iterator[str]:
    """Yield a table, aligned."""
    rows = [table.heads, *table.rows]
    widths = [max(width_of(printable(row[column])) for row in rows) for column in range(len(table.heads))]
    yield f"{table.title}:"
    for row in rows:
        yield ("  " + "  ".join(padded(printable(cell), width) for cell, width in zip(row, widths, strict=True))).rstrip()


def _tables(
    program: ContractProgram, function: str, example: Counterexample, collates: Sequence[Collate]
) -> Iterator[ValueTable]:
    """Yield the inputs, and of the collates that are at the end what processes have there."""
    yield _table("inputs", example.inputs)
    last = collates[example.collate : example.collate + 1] or collates[-1:]
    for each in last:
        number = f" #{each.number}" if each.number else ""
        words = _when(program, function, each.function)
        if any(state is not None for state in each.exits) and example.error in ("SGV", "INV") and not example.collate:
            yield _table(f"when they {words[1]}", each.exits)
        elif each.number:
            yield _table(f"when they {words[0]}{number}", each.entries)


def _when(program: ContractProgram, own: str, function: str) -> tuple[str, str]:
    """Return in words when processes pass the entry of a function, and its exit."""
    contract = program.contract(function)
    if contract is None or contract.loop is None:
        return f"enter {function}", f"leave {function}"
    if function == own:
        return f"begin a round of {function}", f"have ended the round of {function}"
    return f"are at the head of {function}", ""


def _table(title: str, states: Sequence[Mapping[str, Value] | None]) -> ValueTable:
    names = dict.fromkeys(name for state in states if state is not None for name in state)
    heads = ("", *(name_of(number) for number in range(len(states))))
    return ValueTable(title, heads, tuple((name, *(_cell(state, name) for state in states)) for name in names))


def _cell(state: Mapping[str, Value] | None, name: str) -> str:
    return "-" if state is None or name not in state else shown_value(state[name], MOST_CELLS)


FORMAT: Final = "rdma-robust/contracts-explain"
VERSION: Final = 1
HEADS: Final = ("function", "verdict", "n", "mode", "runs", "z3", "bounds")
PATHS: Final = (
    "[ enters   ] leaves   o sends   --> message   - -> a message from outside   X what is wrong   # waits forever"
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
    def said(self) -> str:
        """The answer as it is shown."""
        return shown_verdict(self.verdict)

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
    return (row.function, row.said, row.procs, row.mode, str(row.runs), str(row.solver_calls), row.bounds or "-")


def contracts_explanation_text(told: ContractsExplanation, width: int | None, *, full: bool) -> list[str]:
    """Return the explanation as lines."""
    room = width or WIDTH
    program = told.program
    said = f"{printable(program.file)}: {count(len(told.answers), 'function')} with a contract{told.under}: {told.said}"
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


PACKAGE: Final = "rdma_robust.reports.contracts"


def contracts_page(told: ContractsExplanation, version: str) -> str:
    """Return the whole page; `version` is that of the tool."""
    program = told.program
    shown: list[ChartRow] = list(told.findings[0].chart.rows) if told.findings else []
    return (
        templates(PACKAGE)
        .get_template("contracts.html.j2")
        .render(
            told=told,
            program=program,
            title=f"{program.name}: {told.said}",
            kind=KINDS.get(told.exit_code, "unknown"),
            heads=HEADS,
            rows=[(row, cells_of(row)) for row in told.record.rows],
            style=PAGE_STYLE + STYLE,
            script=page_script(SCRIPT),
            findings=[(each, Markup(chart_svg(each.chart, every=True))) for each in told.findings],
            source=marked_lines(program.source, shown, "mp"),
            version=version,
        )
    )


def contract_parts(program: ContractProgram, answers: Sequence[FunctionAnswer]) -> dict[str, str]:
    """Return by their names the fragments of functions that violate their contracts: run, values, the source with marks."""
    template = templates(PACKAGE).get_template("contract_part.html.j2")
    return {
        each.function: template.render(
            finding=each,
            drawing=Markup(chart_svg(each.chart, every=True)),
            source=marked_lines(program.source, each.chart.rows, "mp"),
        )
        for each in contract_findings(program, answers)
    }
