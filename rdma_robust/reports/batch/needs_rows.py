"""The matrix of what programs rely on, programs against order tables: a section of a report, Markdown, and numbers.

A cell says `yes`, or which guarantees the table lacks of the set to which it comes closest.
"""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from rdma_robust.analyses.needs.table_answers import TableAnswer
from rdma_robust.frame.formats.report_section import ReportSection, SectionRow, numbered_line
from rdma_robust.frame.question import Section
from rdma_robust.orders import order_name
from rdma_robust.reports.analyses.needs_report import WORDS, NeededSet, NeedsRecord, claim_said, flags_said, guarantee_said
from rdma_robust.reports.batch.batch_exchange import csv_table
from rdma_robust.reports.batch.batch_markdown import section_markdown
from rdma_robust.reports.batch.report_sections import section_of_rows
from rdma_robust.text import count

YES: Final = "yes"
LEGEND: Final = (
    "<b>What programs rely on</b>: the smallest sets of guarantees of a network under which each is robust; a table gives "
    "one of them, or the cell says what it lacks."
)


def needs_section(section: Section[Any, NeedsRecord]) -> ReportSection:
    """Return the section of a report: a row for each program, a column for each table, and behind a row what each guarantee
    orders."""
    counts = section.counts
    numbers = {words: counts[status.replace("-", "_")] for status, words in WORDS.items()}
    line = f"needs: {numbered_line(count(counts.done, counts.noun), numbers, None)}"
    orders = _orders(section)
    rows = [_row(record, orders) for record in section.records]
    title, label = "What programs rely on", "Programs and order tables"
    return section_of_rows(section, line, _columns(orders), rows, title=title, label=label, legend=LEGEND)


def _orders(section: Section[Any, NeedsRecord]) -> tuple[str, ...]:
    return tuple(map(order_name, section.asking.orders))


def _columns(orders: tuple[str, ...]) -> tuple[str, ...]:
    return ("file", "needs", *orders, "note")


def _row(record: NeedsRecord, orders: tuple[str, ...]) -> SectionRow:
    answers = {each.order: _cell(each) for each in record.tables}
    tables = [answers.get(order, "" if record.tables else "?") for order in orders]
    colours = {
        2 + k: "robust" if said == YES else "unknown" if said == "?" else "not-robust" for k, said in enumerate(tables)
    }
    note = "; ".join(
        [*filter(None, [record.reason]), *(claim_said(each) for each in record.claims if each.enough is not True)]
    )
    cells = (record.file, _sets(record), *tables, note)
    return SectionRow(cells, colours, _page(record), f": {_sets(record)}")


def _cell(table: TableAnswer) -> str:
    if table.gives is not False:
        return YES if table.gives else "?"
    return ", ".join(table.lacks) or "no"


def _sets(record: NeedsRecord) -> str:
    """Return the minimal sets of a program in a line."""
    said = " or ".join(
        "{" + ", ".join(each.name for each in some.guarantees) + "}" for some in record.sets if some.guarantees
    )
    return said or ("nothing" if record.sets else "-")


def _page(record: NeedsRecord) -> str:
    """Return, as HTML, the sets with the lines that each guarantee orders and what may happen without it."""
    sets = Markup("").join(_set_page(some) for some in record.sets if some.guarantees)
    return Markup("<ol>{}</ol>").format(sets) if sets else ""


def _set_page(some: NeededSet) -> Markup:
    items = Markup("").join(Markup("<li>{}</li>").format(guarantee_said(each)) for each in some.guarantees)
    return Markup("<li>{}<ul>{}</ul></li>").format(flags_said(some), items)


def needs_markdown(section: Section[Any, NeedsRecord]) -> str:
    """Return the matrix as Markdown."""
    return "\n".join(section_markdown(needs_section(section)))


def needs_csv(section: Section[Any, NeedsRecord]) -> str:
    """Return the matrix for a spreadsheet."""
    return csv_table(_columns(_orders(section)), (row.cells for row in needs_section(section).rows))
