"""The labels of a thread: each names one place."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.language.check.names import Label, ThreadNames
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in


def declare_labels(thread: ThreadNames, body: ast.Block, report: Reporter) -> None:
    """Note the labels of a thread, of which `body` is written out; their places come later. Errors go to the report."""
    for statement in statements_in(body):
        if not isinstance(statement, ast.Label):
            continue
        name = statement.name
        before = thread.labels.setdefault(name.text, Label(name.text, None, name.span))
        if before.span is name.span:
            continue
        if before.span.start == name.span.start:
            message = f"label {quote(name.text)} stands in several copies, and a label names one place"
            hint = "put it before the `for`, or let the macro have the label as a parameter"
            report.error("RR204", name.span, message, hint=hint)
        else:
            line = before.span.line
            report.error("RR204", name.span, f"label {quote(name.text)} was declared before, on line {line}")


def warn_unused_labels(thread: ThreadNames, report: Reporter) -> None:
    """Warn of labels that nothing names; of those of macros nothing is said."""
    for label in thread.labels.values():
        if not label.used and label.span.origin is None:
            report.warn("RR701", label.span, f"label {quote(f'{thread.name}.{label.name}')} is never used")
