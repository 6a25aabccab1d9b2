"""What stands beneath the row of a function: its violation as a chart with the inputs and the collective states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.contract_answers import Collate, Counterexample, FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.messages.language.message_terms import Value, shown_value
from rdma_robust.reports.contracts.contract_chart import contract_chart
from rdma_robust.reports.contracts.contract_words import (
    first_violation,
    name_of,
    text_at,
    violation_line,
)
from rdma_robust.reports.share.chart import Chart
from rdma_robust.reports.share.chart_text import chart_text
from rdma_robust.text import filled, padded, printable, width_of

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
