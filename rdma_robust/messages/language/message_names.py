"""The check of names in `.mp` programs: once for each process and function, whatever numbers and arguments are."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter, listing, quote
from rdma_robust.expr import Name
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_declarations import Declarations
from rdma_robust.messages.language.message_parts import contract_names, function_calls_in
from rdma_robust.messages.language.message_program import Statement
from rdma_robust.messages.language.message_scope import ProcessScope
from rdma_robust.messages.language.message_warnings import (
    warn_never_read,
    warn_of_ports,
    warn_of_requests,
    warn_unreached_lines,
    warn_unused_names,
)
from rdma_robust.messages.language.message_world import GlobalScope, InFunction, TooLargeError
from rdma_robust.messages.language.writing_out import Writer


class NameCheck:
    """Reads the declarations of one program, and looks at every process and function. Errors and warnings go to `report`.

    `poisoned` are names of which nothing certain is known.
    """

    def __init__(self, report: Reporter, poisoned: frozenset[str]) -> None:
        self.report = report
        self.declared = Declarations(report, poisoned)

    def read(self, found: ast.ProgramTree, *, any_number: bool = False) -> GlobalScope:
        """Return what the names of a program mean; functions may be for `any_number` of processes."""
        world = self.declared.read(found)
        self._check(found, world, any_number)
        return world

    def _check(self, found: ast.ProgramTree, world: GlobalScope, any_number: bool) -> None:
        """Check every process and function once, whatever its number and its arguments are."""
        start = ProcessScope(world, self.report, Name("PID"), {})
        self.globals(Writer(start, world))
        checked: list[ProcessScope] = []
        known = world.processes
        for item in tree.declarations(found):
            if isinstance(item, tree.Proc):
                counter = {} if item.numbers is None else {item.numbers.counter.text: Name(item.numbers.counter.text)}
                self._check_counter(item, world)
                checked.append(self._check_body(ProcessScope(world, self.report, Name("PID"), counter), world, item))
            elif isinstance(item, tree.FunctionItem):
                world.processes = 0 if any_number else known
                checked.append(self._check_body(ProcessScope(world, self.report, Name("PID"), {}), world, item))
                world.processes = known
        warn_unused_names(world, (each for scope in checked for each in scope.declared), self.report)
        warn_of_ports(found, self.report)
        for function in world.functions.values():
            self._check_recursion(function, world)

    def _check_counter(self, item: tree.Proc, world: GlobalScope) -> None:
        name = None if item.numbers is None else item.numbers.counter
        before = None if name is None else world.first.get(name.text)
        if name is not None and before is not None:
            self.report.error("RR904", name.span, f"{quote(name.text)} was declared before, on line {before.line}")

    def _check_body(self, scope: ProcessScope, world: GlobalScope, item: tree.Proc | tree.FunctionItem) -> ProcessScope:
        """Check a process or function, and return its names."""
        writer = Writer(scope, world, inside=InFunction("result") if isinstance(item, tree.FunctionItem) else None)
        if isinstance(item, tree.FunctionItem):
            for parameter in item.parameters:
                scope.declare(parameter, "register")
            for name in () if item.contract is None else contract_names(item.contract):
                scope.is_named(name)
        try:
            writer.block(item.body)
        except TooLargeError as too_large:
            self.report.error("RR919", item.name.span, f"{quote(item.name.text)} has {too_large}")
        warn_of_requests(item.body, self.report)
        warn_never_read(item.body, self.report)
        warn_unreached_lines(
            item.body, self.report, "the function" if isinstance(item, tree.FunctionItem) else "the process"
        )
        return scope

    def _check_recursion(self, function: tree.FunctionItem, world: GlobalScope) -> None:
        """Report a function that comes to call itself, where it calls the first one of that circle."""
        name = function.name.text
        for call in function_calls_in(function.body):
            path = _path(call.name.text, name, world)
            if path is not None:
                circle = listing((quote(each) for each in path), "and then")
                said = f"{quote(name)} calls itself" if len(path) == 1 else f"{quote(name)} calls itself: it calls {circle}"
                self.report.error("RR907", call.span, said, hint="use `while` or `for`: functions are written out")

    def globals(self, writer: Writer) -> list[Statement]:
        """Return what gives the registers their first values that are declared outside of processes."""
        found: list[Statement] = []
        for declared in self.declared.registers:
            found += writer.set_global(declared)
        return found


def _path(start: str, goal: str, world: GlobalScope) -> list[str] | None:
    """Return the functions from `start` to `goal` by which one calls the next, None if there are none."""
    paths, seen = [[start]], {start}
    for path in paths:
        if path[-1] == goal:
            return path
        function = world.functions.get(path[-1])
        for call in () if function is None else function_calls_in(function.body):
            if call.name.text not in seen:
                seen.add(call.name.text)
                paths.append([*path, call.name.text])
    return None
