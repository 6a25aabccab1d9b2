"""Warnings about names that nothing uses, statements that are never reached, what is known before any run, and requests.

What happens between an issue and its wait is looked at in the order of the text, one block after the other; nothing is said
where that is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import cast

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of, first_line
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_parts import all_lines, names_stored_by, operands_of, places_in, stored_places
from rdma_robust.messages.language.message_printer import expression_text
from rdma_robust.messages.language.message_world import GlobalScope, LocalName


def warn_unused_names(world: GlobalScope, locals_: Iterable[tuple[str, LocalName]], report: Reporter) -> None:
    """Warn of constants, ports, functions, registers and requests that nothing uses."""
    found = [("constant", name, each.span) for name, each in world.constants.items() if not each.used]
    found += [("register", name, each.span) for name, each in world.globals.items() if not each.used]
    given = {each.span for function in world.functions.values() for each in function.parameters}
    unused = [(name, each) for name, each in locals_ if not each.used and each.kind != "counter"]
    found += [("parameter" if each.span in given else each.kind, name, each.span) for name, each in unused]
    found += [
        ("function", name, each.name.span)
        for name, each in world.functions.items()
        if name not in world.called and each.contract is None
    ]
    for what, name, span in found:
        report.warn("RR701", span, f"{what} {quote(name)} is never used")


def warn_of_ports(program: ast.ProgramTree, report: Reporter) -> None:
    """Warn of ports and groups that nothing uses, and of ports on which nothing is sent, or received."""
    bodies = [item.body for item in tree.declarations(program) if isinstance(item, tree.Proc | tree.FunctionItem)]
    lines = [line for body in bodies for line in all_lines(body)]
    sent = {line.port.text for line in lines if isinstance(line, tree.SendLine) and line.port is not None}
    received = {
        line.port.text for line in lines if isinstance(line, tree.ReceiveLine | tree.ProbeLine) and line.port is not None
    }
    entered = {line.group.text for line in lines if isinstance(line, tree.CollectiveLine) and line.group is not None}
    for item in tree.declarations(program):
        if isinstance(item, tree.GroupLine) and item.name.text not in entered:
            report.warn("RR701", item.name.span, f"group {quote(item.name.text)} is never used")
        for name in item.names if isinstance(item, tree.PortLine) else ():
            if name.text not in sent | received:
                report.warn("RR701", name.span, f"port {quote(name.text)} is never used")
            elif name.text not in sent:
                said = f"nothing is sent on the port {quote(name.text)}: who receives there waits forever"
                report.warn("RR744", name.span, said)
            elif name.text not in received:
                report.warn("RR744", name.span, f"nothing is received on the port {quote(name.text)}")


def warn_never_read(body: ast.Block, report: Reporter) -> None:
    """Warn of registers of a process or function that are assigned, by something else than a call, and never read."""
    lines = list(all_lines(body))
    declared = [each for line in lines if isinstance(line, tree.RegisterLine) for each in line.registers]
    read = {name for line in lines for name in _read_by(line)}
    received = {each.name.text for line in lines for each in stored_places(line)}
    plain = {line for line in lines if isinstance(line, ast.Assign) and not isinstance(line.value, tree.FunctionCall)}
    assigned = {tree.target(line).name.text for line in lines if isinstance(line, ast.Assign)}
    called = assigned - {tree.target(line).name.text for line in plain}
    for each in declared:
        if each.name.text in assigned - read - received - called:
            report.warn("RR746", each.name.span, f"register {quote(each.name.text)} is never read")


def _read_by(line: tree.Line) -> Iterator[str]:
    """Yield the names whose values a statement uses."""
    stored = (tree.target(line),) if isinstance(line, ast.Assign) else stored_places(line)
    for place in places_in(*operands_of(line)):
        if not any(place is each for each in stored):
            yield place.name.text


def warn_unreached_lines(block: ast.Block, report: Reporter, ends: str) -> None:
    """Warn of the first statement of each block that comes after the end; `ends` says of what."""
    ended = False
    for line in tree.lines(block):
        if ended:
            report.warn("RR703", first_line(line.span), f"this is never reached: {ends} has ended")
            return
        for inner in blocks_of(cast(ast.Statement, line)):
            warn_unreached_lines(inner, report, ends)
        ended = _ends(line)


def _ends(line: tree.Line) -> bool:
    """Whether nothing after a statement is executed in its process or function."""
    match line:
        case ast.Halt() | tree.AbortLine() | tree.ReturnLine():
            return True
        case ast.While(condition):
            return isinstance(condition, ast.NumberLiteral) and condition.value != 0
        case ast.If(_, None):
            return False
        case ast.If() | ast.Choose():
            return all(any(map(_ends, tree.lines(block))) for block in blocks_of(line))
        case _:
            return False


@dataclass(slots=True)
class _OpenRequest:
    """A request that is active as far as is known; `targets` is where a receive stores at its wait."""

    request: tree.IndexedName
    span: Span
    targets: tuple[tree.IndexedName, ...]
    told: bool = False

    def without(self, name: str) -> _OpenRequest:
        """Return the same without targets of which an index is another one by now."""
        if not any(each.indices for each in self.targets):
            return self
        kept = (each for each in self.targets if all(name != m.name.text for m in places_in(*each.indices)))
        return replace(self, targets=tuple(kept))


@dataclass(slots=True)
class _Active:
    """The active requests at a place of the text, by how they are written."""

    found: dict[str, _OpenRequest] = field(default_factory=dict)

    def targets_named(self, name: str) -> list[tuple[tree.IndexedName, _OpenRequest]]:
        """Return the places of this name at which a request stores at its wait."""
        return [(target, each) for each in self.found.values() for target in each.targets if target.name.text == name]

    def waited(self, request: tree.IndexedName) -> None:
        """Note that a request, or all of an array, is waited for; one of an array may be any of them."""
        name = request.name.text
        for text in [text for text, each in self.found.items() if each.request.name.text == name]:
            del self.found[text]


def warn_of_requests(body: ast.Block, report: Reporter) -> None:
    """Warn of what the statements of a process or function do to requests, and to registers while they receive."""
    _block(body, _Active(), report)
    _warn_unwaited(body, report)


def _warn_unwaited(body: ast.Block, report: Reporter) -> None:
    lines = list(all_lines(body))
    waits = [line for line in lines if isinstance(line, tree.WaitLine | tree.CompletionLine)]
    waited = {each.name.text for line in waits for each in line.requests}
    issued = {_request(line) for line in lines} - {None}
    taken = {line.taken.name.text for line in lines if isinstance(line, tree.ProbeLine) and line.taken is not None}
    received = {line.of.name.text for line in lines if isinstance(line, tree.ReceiveLine) and line.of is not None}
    for line in lines:
        for each in line.requests if isinstance(line, tree.RequestLine) else ():
            if each.name.text in issued and each.name.text not in waited:
                report.warn("RR743", each.name.span, f"nothing waits for {quote(each.name.text)}")
            elif each.name.text in taken and each.name.text not in received:
                report.warn("RR743", each.name.span, f"nothing receives the message that {quote(each.name.text)} holds")


def _request(line: tree.Line) -> str | None:
    request = line.request if isinstance(line, tree.SendLine | tree.ReceiveLine) else None
    return None if request is None else request.name.text


def _block(block: ast.Block, active: _Active, report: Reporter) -> None:
    for line in tree.lines(block):
        _uses(line, active, report)
        if isinstance(line, tree.WaitLine | tree.CompletionLine):
            for request in line.requests:
                active.waited(request)
        if isinstance(line, tree.SendLine | tree.ReceiveLine) and line.request is not None:
            _issue(line, line.request, active, report)
        inner = blocks_of(cast(ast.Statement, line))
        if isinstance(line, ast.While | ast.For | ast.Loop):
            _round(line, active, report)
        elif inner:
            branches = [_Active(dict(active.found)) for _ in inner]
            for each, branch in zip(inner, branches, strict=True):
                _block(each, branch, report)
            passed_by = [active] if isinstance(line, ast.If) and line.otherwise is None else []
            after = [branch.found for branch in (*branches, *passed_by)]
            active.found = {text: each for text, each in after[0].items() if all(text in other for other in after)}


def _round(line: ast.While | ast.For | ast.Loop, active: _Active, report: Reporter) -> None:
    """Look at the body of a loop; what it issues and does not wait for it issues again, if it is the same."""
    before = dict(active.found)
    _block(line.body, active, report)
    for text, each in active.found.items():
        again = before.get(text) is not each and _is_fixed(each.request) and not each.told
        if again and not _waited_first(line.body, each):
            each.told = True
            said = f"{quote(text)} is issued again in the next round, and not waited for before"
            report.warn("RR742", each.span, said, hint=f"`wait {text}` before the end of the block")
    for text in before.keys() - active.found.keys():
        active.found.pop(text, None)


def _waited_first(body: ast.Block, issued: _OpenRequest) -> bool:
    """Whether a body has a wait for a request in front of its issue, which then is for that of the round before."""
    name = issued.request.name.text
    for line in all_lines(body):
        if isinstance(line, tree.WaitLine | tree.CompletionLine) and any(each.name.text == name for each in line.requests):
            return True
        if line.span == issued.span:
            return False
    return False


def _is_fixed(request: tree.IndexedName) -> bool:
    return all(isinstance(index, ast.NumberLiteral) for index in request.indices)


def _issue(line: tree.SendLine | tree.ReceiveLine, request: tree.IndexedName, active: _Active, report: Reporter) -> None:
    text = expression_text(request)
    before = active.found.get(text)
    if before is not None and _is_fixed(request):
        said = f"{quote(text)} is active since line {before.span.line}, and is lost here: it stays posted"
        report.warn("RR742", request.span, said, hint=f"`wait {text}` before")
    active.found[text] = _OpenRequest(request, line.span, stored_places(line))


def _uses(line: tree.Line, active: _Active, report: Reporter) -> None:
    """Warn of registers in a statement that are the targets of active receives."""
    for place in places_in(*operands_of(line)) if active.found else ():
        for target, each in active.targets_named(place.name.text):
            if _is_in(target, place):
                name, asked = quote(expression_text(place)), expression_text(each.request)
                said = f"{name} is the target of the receive of line {each.span.line}, which stores at its `wait` only"
                report.warn("RR741", place.span, said, hint=f"`wait {asked}` before")
    for name in names_stored_by(line):
        active.found = {text: each.without(name) for text, each in active.found.items()}


def _is_in(target: tree.IndexedName, mentioned: tree.IndexedName) -> bool:
    """Whether one of two places of one name is the other or is in it, by how they are written."""
    return all(one == other for one, other in zip(target.indices, mentioned.indices, strict=False))
