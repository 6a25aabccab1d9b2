"""What the names in `.mp` programs are, checked once for each process and function, whatever numbers and arguments are."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter, listing, quote
from rdma_robust.expr import Name
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_declarations import Declarations
from rdma_robust.messages.language.message_parts import calls_in, names_in
from rdma_robust.messages.language.message_program import Statement
from rdma_robust.messages.language.message_scope import Scope
from rdma_robust.messages.language.message_warnings import (
    warn_never_read,
    warn_of_ports,
    warn_of_requests,
    warn_unreached,
    warn_unused,
)
from rdma_robust.messages.language.message_world import InFunction, TooLargeError, World
from rdma_robust.messages.language.writing_out import Writer


class NameCheck:
    """Reads the declarations of one program, and looks at every process and function. Errors and warnings go to `report`.

    `poisoned` are names of which nothing certain is known.
    """

    def __init__(self, report: Reporter, poisoned: frozenset[str]) -> None:
        self.report = report
        self.declared = Declarations(report, poisoned)

    def read(self, found: ast.Program, *, any_number: bool = False) -> World:
        """Return what the names of a program mean; functions may be for `any_number` of processes."""
        world = self.declared.read(found)
        self._check(found, world, any_number)
        return world

    def _check(self, found: ast.Program, world: World, any_number: bool) -> None:
        """Check every process and function once, whatever its number and its arguments are."""
        start = Scope(world, self.report, Name("PID"), {})
        self.globals(Writer(start, world))
        checked: list[Scope] = []
        known = world.processes
        for item in tree.declarations(found):
            if isinstance(item, tree.Proc):
                counter = {} if item.numbers is None else {item.numbers.counter.text: Name(item.numbers.counter.text)}
                self._check_counter(item, world)
                checked.append(self._check_body(Scope(world, self.report, Name("PID"), counter), world, item))
            elif isinstance(item, tree.Function):
                world.processes = 0 if any_number else known
                checked.append(self._check_body(Scope(world, self.report, Name("PID"), {}), world, item))
                world.processes = known
        warn_unused(world, (each for scope in checked for each in scope.declared), self.report)
        warn_of_ports(found, self.report)
        for function in world.functions.values():
            self._check_recursion(function, world)

    def _check_counter(self, item: tree.Proc, world: World) -> None:
        name = None if item.numbers is None else item.numbers.counter
        before = None if name is None else world.first.get(name.text)
        if name is not None and before is not None:
            self.report.error("RR904", name.span, f"{quote(name.text)} was declared before, on line {before.line}")

    def _check_body(self, scope: Scope, world: World, item: tree.Proc | tree.Function) -> Scope:
        """Check a process or function, and return its names."""
        writer = Writer(scope, world, inside=InFunction("result") if isinstance(item, tree.Function) else None)
        if isinstance(item, tree.Function):
            for parameter in item.parameters:
                scope.declare(parameter, "register")
            for name in () if item.contract is None else names_in(item.contract):
                scope.is_named(name)
        try:
            writer.block(item.body)
        except TooLargeError as too_large:
            self.report.error("RR919", item.name.span, f"{quote(item.name.text)} has {too_large}")
        warn_of_requests(item.body, self.report)
        warn_never_read(item.body, self.report)
        warn_unreached(item.body, self.report, "the function" if isinstance(item, tree.Function) else "the process")
        return scope

    def _check_recursion(self, function: tree.Function, world: World) -> None:
        """Report a function that comes to call itself, where it calls the first one of that circle."""
        name = function.name.text
        for call in calls_in(function.body):
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


def _path(start: str, goal: str, world: World) -> list[str] | None:
    """Return the functions from `start` to `goal` by which one calls the next, None if there are none."""
    paths, seen = [[start]], {start}
    for path in paths:
        if path[-1] == goal:
            return path
        function = world.functions.get(path[-1])
        for call in () if function is None else calls_in(function.body):
            if call.name.text not in seen:
                seen.add(call.name.text)
                paths.append([*path, call.name.text])
    return None
