"""The way into the language `.mp`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import Final

from rdma_robust.diagnose import Reporter, listing, quote
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import Const, Name
from rdma_robust.language.load import in_order
from rdma_robust.language.suppressions import suppressions
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language import writing_out
from rdma_robust.messages.language.function_parts import calls_in
from rdma_robust.messages.language.message_declarations import Declarations
from rdma_robust.messages.language.message_hazards import warn_of_requests
from rdma_robust.messages.language.message_program import Block, MessageProgram, Process, Statement
from rdma_robust.messages.language.message_scope import Scope
from rdma_robust.messages.language.message_warnings import warn_never_read, warn_of_ports, warn_unreached, warn_unused
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.language.message_world import COLLECTIVE, Family, World, library_world
from rdma_robust.messages.language.writing_out import InFunction, TooLargeError, Writer, Written

FOUND: Final = frozenset({"RR701", "RR703", "RR705", "RR706", "RR741", "RR742", "RR743", "RR744", "RR745", "RR746"})
"""The codes of all warnings about programs of `.mp`."""


def load_messages(text: str, file: str) -> MessageProgram:
    """Return the checked program in `text`, with its warnings; `file` is its name for messages.

    Raises ProgramError with every error of the file. Names are checked once, processes are written out after that, so that
    it is too large is said of a program without other errors.
    """
    report = Reporter(file, text)
    found, layout, poisoned = parse(text, report, message_grammar())
    if found is None:
        report.raise_errors()
        raise AssertionError("no tree and no error")
    program = _Reader(report, poisoned).program(found)
    ignored = suppressions(text, layout)
    wrong = (replace(each, span=report.at(each.span)) for each in ignored.wrong)
    return replace(program, warnings=in_order((*ignored.applied(program.warnings, FOUND), *wrong)))


class _Reader:
    """Checks one program, and writes it out."""

    def __init__(self, report: Reporter, poisoned: frozenset[str]) -> None:
        self.report = report
        self.declared = Declarations(report, poisoned)

    def program(self, found: ast.Program) -> MessageProgram:
        world = self.declared.read(found)
        self._check(found, world)
        self.report.raise_errors()
        ports = ("", *world.ports)
        processes, uses_library = self._processes(world, library_world(world))
        if not processes:
            what = "there is no `proc`" if found.items else "the file is empty"
            self.report.warn("RR706", NO_SPAN, f"{what}: nothing runs, and there is nothing to decide")
        return MessageProgram(
            name=self.declared.name or PurePath(self.report.file).stem,
            file=self.report.file,
            source=self.report.source,
            processes=processes,
            ports=(*ports, COLLECTIVE) if uses_library else ports,
            claims=tuple(self.declared.claims),
            warnings=self.report.warnings,
        )

    def _check(self, found: ast.Program, world: World) -> None:
        """Check every process and function once, whatever its number and its arguments are."""
        start = Scope(world, self.report, Name("PID"), {})
        self._globals(Writer(start, world))
        checked: list[Scope] = []
        for item in tree.declarations(found):
            if isinstance(item, tree.Proc):
                counter = {} if item.numbers is None else {item.numbers.counter.text: Name(item.numbers.counter.text)}
                self._check_counter(item, world)
                checked.append(self._check_body(Scope(world, self.report, Name("PID"), counter), world, item))
            elif isinstance(item, tree.Function):
                checked.append(self._check_body(Scope(world, self.report, Name("PID"), {}), world, item))
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

    def _globals(self, writer: Writer) -> list[Statement]:
        found: list[Statement] = []
        for declared in self.declared.registers:
            found += writer.set_global(declared)
        return found

    def _processes(self, world: World, library: World) -> tuple[tuple[Process, ...], bool]:
        found: list[Process] = []
        written = Written(writing_out.MAX_STATEMENTS)
        for family in world.families.values():
            for number, name, values in family.members():
                written = Written(written.left, dict.fromkeys(world.globals), uses_library=written.uses_library)
                constants = {each: Const(value) for each, value in values.items()}
                try:
                    found.append(
                        self._process(family, name, Scope(world, self.report, Const(number), constants), library, written)
                    )
                except TooLargeError as too_large:
                    hint = "functions and families are written out: take smaller numbers, or fewer calls"
                    self.report.error("RR919", family.proc.name.span, f"written out there are {too_large}", hint=hint)
                    self.report.raise_errors()
        return tuple(found), written.uses_library

    def _process(self, family: Family, name: str, scope: Scope, library: World, written: Written) -> Process:
        scope.strict = False
        writer = Writer(scope, library, written)
        start = self._globals(writer)
        body: Block = (*start, *writer.block(family.proc.body))
        proc = family.proc
        span = self.report.at(proc.name.span)
        return Process(name, body, tuple(written.registers), tuple(written.requests), proc.daemon, span)


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
