"""The labels of a thread: each names one place."""

from __future__ import annotations

from collections.abc import Iterable

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.language.check.names import NamedLabel, ThreadNames, family_name
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in


def declare_labels(thread: ThreadNames, body: ast.Block, report: Reporter) -> None:
    """Note the labels of a thread, of which `body` is written out; their places come later. Errors go to the report."""
    for statement in statements_in(body):
        if not isinstance(statement, ast.LabelStatement):
            continue
        name = statement.name
        before = thread.labels.setdefault(name.text, NamedLabel(name.text, None, name.span))
        if before.span is name.span:
            continue
        if before.span.start == name.span.start:
            message = f"label {quote(name.text)} stands in several copies, and a label names one place"
            hint = "put it before the `for`, or let the macro have the label as a parameter"
            report.error("RR204", name.span, message, hint=hint)
        else:
            line = before.span.line
            report.error("RR204", name.span, f"label {quote(name.text)} was declared before, on line {line}")


def warn_unused_labels(threads: Iterable[ThreadNames], report: Reporter) -> None:
    """Warn of labels that nothing names, in no thread of a family; of those of macros nothing is said."""
    found = [(family_name(thread.name), label) for thread in threads for label in thread.labels.values()]
    used = {label.span.start for _, label in found if label.used}
    for thread, label in found:
        if label.span.start not in used and label.span.origin is None:
            report.warn("RR701", label.span, f"label {quote(f'{thread}.{label.name}')} is never used")
