"""Rules of where things stand: threads on nodes of which there is any number, registers, posted receives, polls.

Warnings of what a program has for nothing: statements that no path of a thread comes to, values ignored but for
constants, and names that nothing uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

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


def check_crowds(tree: ast.ProgramTree, world: ProgramNames, report: Reporter) -> None:
    """Report nodes of a crowd without exactly one thread of a crowd, and threads on their own node where there is none."""
    nodes = {item.name.text: item for item in tree.items if isinstance(item, ast.NodeDeclaration)}
    first: dict[str, ast.ThreadDeclaration] = {}
    for item in tree.items:
        if isinstance(item, ast.ThreadDeclaration) and item.on_own:
            node = nodes.get(item.node.text)
            before = first.setdefault(item.node.text, item)
            if _is_own_place(item, node, world, report) and before is not item:
                report.error(
                    "RR230",
                    item.node.span,
                    f"a second thread on {quote(f'{item.node.text}[*]')}: thread {before.name.text} runs there "
                    f"(line {before.name.span.line})",
                    hint="each copy of the node has one thread; let it do what both do, with `choose` if need be",
                )
    for name, node in nodes.items():
        if _is_crowd(node) and name not in first and name not in world.poisoned:
            report.error(
                "RR230",
                node.name.span,
                f"no thread runs on {quote(f'{name}[*]')}",
                expected=f"one that does, `thread NAME[*] on {name}[*]`",
            )


def _is_crowd(item: ast.NodeDeclaration | ast.ThreadDeclaration) -> bool:
    return item.family is not None and item.family.many


def _is_own_place(
    item: ast.ThreadDeclaration, node: ast.NodeDeclaration | None, world: ProgramNames, report: Reporter
) -> bool:
    """Return whether each copy of a thread has a copy of the node; report if not."""
    place = f"{item.node.text}[*]"
    if node is None:
        return False
    if not _is_crowd(node):
        hint = f"write `on {item.node.text}`, or `node {place}` where it is declared"
        report.error("RR230", item.node.span, f"there is one node {quote(item.node.text)}, no crowd of them", hint=hint)
    elif not _is_crowd(item):
        message = f"there is any number of nodes {quote(item.node.text)}, and one thread {quote(item.name.text)}"
        report.error("RR230", item.node.span, message, hint=f"write `thread {item.name.text}[*] on {place}`")
    elif _bounds(item) != _bounds(node) or not _same_numbers(item, world):
        message = f"each thread {quote(item.name.text)} has its own node {quote(item.node.text)}: there must be as many"
        report.error("RR230", item.node.span, message, hint="write the same behind both names")
    else:
        return True
    return False


def _bounds(item: ast.NodeDeclaration | ast.ThreadDeclaration) -> bool:
    return item.family is not None and item.family.low is not None


def _same_numbers(item: ast.ThreadDeclaration, world: ProgramNames) -> bool:
    thread, node = world.groups.get(("thread", item.name.text)), world.groups.get(("node", item.node.text))
    return thread is not None and node is not None and thread.numbers == node.numbers


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


def check_posted_places(body: ast.Block, report: Reporter) -> None:
    """Check that what is there before anything runs, lanes and posted receives, stands in no block of a thread that is
    written out."""
    top = {id(s) for s in body.statements}
    for statement in statements_in(body):
        word = {ast.PostedStatement: "posted", ast.Lanes: "qp"}.get(type(statement))
        if word is not None and id(statement) not in top:
            report.error(
                "RR415",
                statement.span,
                f"`{word}` is about what is there before anything runs, it cannot stand in a block",
                hint=f"move this line up, out of the braces{', or write `recv`' * (word == 'posted')}",
            )


def warn_polls(thread: ThreadNames, edges: Sequence[cfg.Edge], report: Reporter) -> None:
    """Warn of polls without a completion, and of queue pairs whose completions nobody is told of."""
    _warn_endless_polls(thread, edges, report)
    _warn_never_signaled(thread, report)


def _warn_endless_polls(thread: ThreadNames, edges: Sequence[cfg.Edge], report: Reporter) -> None:
    """Warn of polls that nothing can complete, where the thread has no other branch of a `choose` or `loop` to go on in."""
    ways: dict[int, set[int]] = {}
    for source, _, step in edges:
        ways.setdefault(source, set()).add(step.span.start)
    alone = {start for starts in ways.values() if len(starts) == 1 for start in starts}
    for pair, span in thread.polls:
        if pair in thread.completes_to or span.start not in alone:
            continue
        towards = f"on {pair}" if pair in thread.lanes else f"towards {pair}"
        if pair in thread.sends_to:
            why = f"every operation of thread {thread.name} {towards} is unsignaled"
        else:
            why = f"thread {thread.name} has no operation {towards}"
        report.warn("RR702", span, f"`poll {pair}` blocks forever: {why}")


def _warn_never_signaled(thread: ThreadNames, report: Reporter) -> None:
    """Warn of queue pairs with operations but no signaled one."""
    for pair, span in thread.unsignaled.items():
        if pair not in thread.completes_to:
            towards = f"on {pair}" if pair in thread.lanes else f"towards {pair}"
            report.warn(
                "RR707",
                first_line(span),
                f"no operation of thread {thread.name} {towards} is signaled: its send queue never drains",
                hint="leave out `unsignaled` where the last of several is posted, and poll that one",
            )
