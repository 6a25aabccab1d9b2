"""Warnings of what a program has for nothing: statements that no path of a thread comes to, values ignored but for
constants, and names that nothing uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.check.names import (
    NamedConstant,
    NamedLabel,
    ProgramNames,
    Register,
    SharedVariable,
    ThreadNames,
    family_name,
)
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of, first_line, statements_in


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


def unreached_statements(body: ast.Block, edges: Iterable[cfg.Edge]) -> Iterator[tuple[Span, str]]:
    """Yield the first such statement of every block, and why; `edges` are those of the thread that can be reached."""
    return _in_block(body, frozenset(step.span.start for _, _, step in edges))


def warn_unreached_statements(found: Iterable[tuple[Span, str]], reached: Set[int], report: Reporter) -> None:
    """Warn of what was found in some thread; of what has copies only if none of them is `reached`."""
    for span, message in found:
        if span.start not in reached:
            report.warn("RR703", span, message)


def _in_block(block: ast.Block, reached: frozenset[int]) -> Iterator[tuple[Span, str]]:
    halted = False
    for statement in block.statements:
        if halted:
            yield first_line(statement.span), "this is never reached: the thread has halted"
            return
        if _has_steps(statement) and not _is_reached(statement, reached):
            yield first_line(statement.span), "this is never reached"
            return
        for inner in blocks_of(statement):
            yield from _in_block(inner, reached)
        halted = isinstance(statement, ast.Halt)


def _has_steps(statement: ast.Statement) -> bool:
    """Whether a statement makes a step wherever it is reached."""
    match statement:
        case (
            ast.Skip()
            | ast.Registers()
            | ast.Lanes()
            | ast.PostedStatement()
            | ast.LabelStatement()
            | ast.Halt()
            | ast.BrokenStatement()
        ):
            return False
        case ast.Loop() | ast.Choose():
            return any(_has_steps(each) for block in blocks_of(statement) for each in block.statements)
        case _:
            return True


def _is_reached(statement: ast.Statement, reached: frozenset[int]) -> bool:
    starts = {statement.span.start} | {arm.span.start for arm in getattr(statement, "arms", ())}
    inner = (each for block in blocks_of(statement) for each in block.statements)
    return bool(starts & reached) or any(_is_reached(each, reached) for each in inner)


def warn_unused_names(world: ProgramNames, report: Reporter) -> None:
    """Warn of names that nothing uses: of those of a family if none of it does, and of none where it is empty."""
    if any(group.numbers is not None and not group.numbers for group in world.groups.values()):
        return
    found: list[tuple[str, str, NamedConstant | SharedVariable | Register]] = [
        ("constant", constant.name, constant) for constant in world.constants.values()
    ]
    for node in world.nodes.values():
        found += (("variable", f"{family_name(node.name)}.{v.name}", v) for v in node.variables.values())
    for thread in world.threads.values():
        found += (("register", f"{family_name(thread.name)}.{r.name}", r) for r in thread.registers.values())
    used = {each.span.start for _, _, each in found if each.used}
    for what, name, each in found:
        if not each.used and each.span.start not in used and each.span.origin is None:
            report.warn("RR701", each.span, f"{what} {quote(name)} is never used")
    warn_unused_labels(world.threads.values(), report)
