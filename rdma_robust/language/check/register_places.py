"""Where registers may be declared."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in


def check_register_places(item: ast.ThreadDeclaration | ast.Macro, report: Reporter) -> None:
    """Report registers that are declared in a block of a thread or macro."""
    whole = "thread" if isinstance(item, ast.ThreadDeclaration) else "macro"
    top = {id(s) for s in item.body.statements}
    for statement in statements_in(item.body):
        if isinstance(statement, ast.Registers) and id(statement) not in top:
            report.error(
                "RR208",
                statement.span,
                f"registers are declared for the whole {whole}, not in a block",
                hint="move this line up, out of the braces",
            )
