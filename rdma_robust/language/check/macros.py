"""The macros of a program: which there are, whether calls fit them, and circles of macros that call each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rdma_robust.diagnose import Hint, Reporter, meant_at, quote
from rdma_robust.digraph import components, reachable
from rdma_robust.language.check.names import NamedConstant
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import expressions_in, places_named, statements_in, subexpressions

_STATEMENTS = ("assert", "assume", "await", "cas", "faa", "flush", "get", "order", "poll", "put", "rfence", "swap")


@dataclass(frozen=True)
class Macros:
    """`by_name` are the macros that calls can be expanded to: those in no circle. `known` are all."""

    by_name: Mapping[str, ast.Macro]
    known: frozenset[str]

    def of(self, call: ast.MacroCall) -> ast.Macro | None:
        """Return the macro of a call; None where that was reported as wrong."""
        macro = self.by_name.get(call.name.text)
        return macro if macro is not None and len(macro.parameters) == len(call.arguments) else None


def macros_of(tree: ast.ProgramTree, report: Reporter, poisoned: set[str]) -> Macros:
    """Return the macros of a program after checking their heads and all calls.

    `poisoned` names stood in text that was skipped: not to know them is no error of its own.
    """
    found: dict[str, ast.Macro] = {}
    for item in tree.items:
        if isinstance(item, ast.Macro):
            before = found.setdefault(item.name.text, item)
            if before is not item:
                line = before.name.span.line
                report.error("RR204", item.name.span, f"macro {quote(item.name.text)} was declared before, on line {line}")
            _check_parameters(item, report)
    for call in _all_calls(tree):
        _check_call(call, found, report, poisoned)
    circles = _circles(found, report)
    _warn_unused(tree, found, report)
    return Macros({name: macro for name, macro in found.items() if name not in circles}, frozenset(found))


def check_names(macro: ast.Macro, constants: Mapping[str, NamedConstant], report: Reporter) -> None:
    """Report parameters and registers that have the name of a constant."""
    for what, name in (*(("parameter", p) for p in macro.parameters), *(("register", r.name) for r in registers_of(macro))):
        constant = constants.get(name.text)
        if constant is not None:
            report.error(
                "RR205", name.span, f"{what} {quote(name.text)} has the name of a constant (line {constant.span.line})"
            )


def registers_of(macro: ast.Macro) -> Iterator[ast.Binding]:
    """Yield the registers that a macro declares for each of its expansions."""
    for statement in macro.body.statements:
        if isinstance(statement, ast.Registers):
            yield from statement.registers


def macro_calls(block: ast.Block) -> Iterator[ast.MacroCall]:
    """Yield the calls of a block, also those inside of other statements, in source order."""
    return (statement for statement in statements_in(block) if isinstance(statement, ast.MacroCall))


def _all_calls(tree: ast.ProgramTree) -> Iterator[ast.MacroCall]:
    for item in tree.items:
        if isinstance(item, ast.ThreadDeclaration | ast.Macro):
            yield from macro_calls(item.body)


def _check_parameters(macro: ast.Macro, report: Reporter) -> None:
    seen: dict[str, tuple[str, ast.Ident]] = {}
    declared = [("register", r.name) for r in registers_of(macro)]
    for what, name in (*(("parameter", p) for p in macro.parameters), *declared):
        kind, before = seen.setdefault(name.text, (what, name))
        if before is not name:
            report.error("RR205", name.span, f"{what} {quote(name.text)} has the name of a {kind} (line {before.span.line})")
    used = {name for statement in statements_in(macro.body) for name in names_mentioned(statement)}
    for what, name in seen.values():
        if name.text not in used:
            report.warn("RR701", name.span, f"{what} {quote(f'{macro.name.text}.{name.text}')} is never used")


def names_mentioned(statement: ast.Statement) -> Iterator[str]:
    """Yield every name that a statement itself mentions, not those of inner statements and of what it declares."""
    if isinstance(statement, ast.LabelStatement):
        yield statement.name.text
    places = places_named(statement)
    yield from (place.text for place in places)
    todo = [*expressions_in(statement), *(place.index for place in places if place.index is not None)]
    while todo:
        part = todo.pop()
        todo += subexpressions(part)
        if isinstance(part, ast.Ref):
            yield part.name.text
            if part.owner is not None:
                yield part.owner.text


def _check_call(call: ast.MacroCall, found: Mapping[str, ast.Macro], report: Reporter, poisoned: set[str]) -> None:
    name = call.name.text
    macro = found.get(name)
    if macro is None:
        if name not in poisoned:
            hint = meant_at(call.name.span, name, [*found, *_STATEMENTS]) or Hint(_how_to_declare(call))
            hint = Hint("it is a right side: `r = nondet(0, 3)`") if name == "nondet" else hint
            report.error("RR219", call.name.span, f"there is no macro {quote(name)}", hint=hint)
        return
    wanted, given = len(macro.parameters), len(call.arguments)
    if wanted != given:
        report.error(
            "RR220",
            call.span,
            f"macro {quote(name)} takes {wanted} argument{'s' * (wanted != 1)}, this call has {given}",
            hint=f"it is declared as `{printer.item(macro)}` on line {macro.span.line}",
        )


def _how_to_declare(call: ast.MacroCall) -> str:
    parameters = ", ".join("abcdefgh"[: len(call.arguments)]) if len(call.arguments) <= 8 else "..."
    return f"declare it at the top: `macro {call.name.text}({parameters}) {{ }}`"


def _circles(found: Mapping[str, ast.Macro], report: Reporter) -> set[str]:
    """Report the macros that come back to themselves, once for each circle, and return all that lead into one."""
    numbers = {name: k for k, name in enumerate(found)}
    calls = [[call for call in macro_calls(macro.body) if call.name.text in found] for macro in found.values()]
    following = {k: [numbers[call.name.text] for call in mine] for k, mine in enumerate(calls)}
    bad: set[int] = set()
    for component in components(following):
        inside = set(component)
        first = min(component)
        if len(component) == 1 and first not in following[first]:
            continue
        bad |= inside
        circle = _circle(first, following, inside)
        names = list(found)
        call = next(call for call in calls[first] if numbers[call.name.text] == circle[1])
        path = " -> ".join(quote(names[k]) for k in circle)
        report.error(
            "RR221",
            call.span,
            f"macro {quote(names[first])} calls itself: {path}",
            hint="macros cannot be recursive: use a loop",
        )
    back: dict[int, list[int]] = {}
    for k, targets in following.items():
        for target in targets:
            back.setdefault(target, []).append(k)
    return {name for name, k in numbers.items() if k in reachable(bad, back)} if bad else set()


def _circle(start: int, following: Mapping[int, list[int]], inside: set[int]) -> list[int]:
    """Return a shortest path from `start` back to it."""
    paths = [[start]]
    seen = set[int]()
    for path in paths:
        for target in following[path[-1]]:
            if target == start:
                return [*path, start]
            if target in inside and target not in seen:
                seen.add(target)
                paths.append([*path, target])
    raise AssertionError("no way back in a component")


def _warn_unused(tree: ast.ProgramTree, found: Mapping[str, ast.Macro], report: Reporter) -> None:
    todo = [
        call.name.text for item in tree.items if isinstance(item, ast.ThreadDeclaration) for call in macro_calls(item.body)
    ]
    used = set[str]()
    while todo:
        name = todo.pop()
        if name in found and name not in used:
            used.add(name)
            todo += [call.name.text for call in macro_calls(found[name].body)]
    for name, macro in found.items():
        if name not in used:
            report.warn("RR701", macro.name.span, f"macro {quote(name)} is never used")
