"""What repair finds needless, as warnings at its statements."""

from __future__ import annotations

from rdma_robust.analyses.repair.needless import remove_needless
from rdma_robust.analyses.repair.repairs import RepairOptions
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.options import CheckOptions


def needless_statements(text: str, file: str, options: RepairOptions, limits: CheckOptions) -> tuple[Diagnostic, ...]:
    """Return the polls, fences and gets that a robust program does not need, all of which can go together.

    Nothing is said of programs that are not robust or were not decided within the limits. Raises ProgramError.
    """
    found = remove_needless(text, file, options, limits).removed
    return tuple(
        Diagnostic(
            "warning",
            "RR727",
            f"{quote(part.lines[0])} is not needed: without it the program is robust, too",
            _place(text, file, part.line, part.lines[0]),
            hint="`rdma-robust repair --remove-needless` takes out all that is not needed",
        )
        for part in found
    )


def _place(text: str, file: str, line: int, statement: str) -> Span:
    """Return where a statement is in its line, the first column that is not blank if it is written otherwise there."""
    lines = text.split("\n")
    written = lines[line - 1]
    column = max(written.find(statement), 0) or len(written) - len(written.lstrip())
    start = sum(len(each) + 1 for each in lines[: line - 1]) + column
    width = len(statement) if written[column:].startswith(statement) else 1
    return Span(line, column + 1, line, column + 1 + width, start, start + width, file)
